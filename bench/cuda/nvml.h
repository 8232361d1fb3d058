/* nvml.h - power, temperature and throttle reasons, from the driver's management library
**
** Optional: loaded at run time, and where it is missing everything is unknown.
*/
#ifndef BENCH_NVML_H
#define BENCH_NVML_H

#include <stdbool.h>
#include <stddef.h>

struct nvml {
  void *lib, *device; /* device: NULL where nothing can be asked */
  int (*power)(void *device, unsigned *milliwatts);
  int (*temperature)(void *device, int sensor, unsigned *celsius);
  int (*reasons)(void *device, unsigned long long *mask);
};

/* What several readings saw. */
struct nvml_state {
  int readings;
  double power_w, temp_c;     /* highest; 0: unknown */
  unsigned long long reasons; /* all of them */
};

/* Fills *n, and the driver's version where it can be had; false: neither is known. */
bool nvml_open(struct nvml *n, const char *uuid, char *driver, size_t size);

/* Adds a reading; asks nothing of a library that is not there. Takes about a millisecond. */
void nvml_read(const struct nvml *n, struct nvml_state *s);

/* Does a reason stand for clocks that somebody or something took away: heat, hardware, a brake?
** The power cap is none: every large product runs at it, on both sides. */
bool nvml_throttled(const struct nvml_state *s);

/* "power-cap,sw-thermal"; "none"; "unknown" without a reading. */
const char *nvml_words(const struct nvml_state *s, char *out, size_t size);

#endif
