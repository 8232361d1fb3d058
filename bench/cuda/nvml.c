/* nvml.c - power, temperature and throttle reasons
**
** The library comes with the driver, its header with neither: the few functions
** and numbers that are needed stand here. All return 0 for success.
*/
#include "nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct reason {
  unsigned long long bit;
  const char *word;
  bool bad;
} reasons[] = {
    {0x002, "clocks-set", false}, {0x004, "power-cap", false}, {0x008, "hw-slowdown", true},
    {0x010, "sync-boost", true},  {0x020, "sw-thermal", true}, {0x040, "hw-thermal", true},
    {0x080, "power-brake", true}, {0x100, "display", false}, /* 0x001 is an idle GPU */
};

/* A symbol as a function of any type: C has no cast from one to the other. */
static bool symbol(void *lib, const char *name, void *function_pointer) {
  void *object = dlsym(lib, name);
  memcpy(function_pointer, &object, sizeof object);
  return object != NULL;
}

static void find_readers(struct nvml *n, const char *uuid) {
  int (*by_uuid)(const char *, void **);
  if (!symbol(n->lib, "nvmlDeviceGetHandleByUUID", &by_uuid) || by_uuid(uuid, &n->device) != 0)
    n->device = NULL;
  (void)symbol(n->lib, "nvmlDeviceGetPowerUsage", &n->power);
  (void)symbol(n->lib, "nvmlDeviceGetTemperature", &n->temperature);
  if (!symbol(n->lib, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons)) /* its newer name */
    (void)symbol(n->lib, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
}

bool nvml_open(struct nvml *n, const char *uuid, char *driver, size_t size) {
  int (*init)(void), (*version)(char *, unsigned);
  memset(n, 0, sizeof *n);
  n->lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!n->lib) return false;
  if (!symbol(n->lib, "nvmlInit_v2", &init) || init() != 0) {
    (void)dlclose(n->lib);
    n->lib = NULL;
    return false;
  }
  find_readers(n, uuid);
  return symbol(n->lib, "nvmlSystemGetDriverVersion", &version) &&
         version(driver, (unsigned)size) == 0;
}

void nvml_read(const struct nvml *n, struct nvml_state *s) {
  unsigned v = 0;
  unsigned long long mask = 0;
  if (!n->device) return;
  if (n->power && n->power(n->device, &v) == 0) s->power_w = fmax(s->power_w, v / 1000.0);
  if (n->temperature && n->temperature(n->device, 0, &v) == 0) s->temp_c = fmax(s->temp_c, v);
  if (!n->reasons || n->reasons(n->device, &mask) != 0) return;
  s->reasons |= mask;
  s->readings++;
}

bool nvml_throttled(const struct nvml_state *s) {
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
    if (reasons[i].bad && (s->reasons & reasons[i].bit)) return true;
  return false;
}

const char *nvml_words(const struct nvml_state *s, char *out, size_t size) {
  size_t used = 0;
  snprintf(out, size, "%s", s->readings ? "none" : "unknown");
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
    if (!(s->reasons & reasons[i].bit)) continue;
    int n = snprintf(out + used, size - used, "%s%s", used ? "," : "", reasons[i].word);
    if (n > 0) used += (size_t)n < size - used ? (size_t)n : size - used - 1;
  }
  return out;
}
