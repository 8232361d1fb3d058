/* holes.h - memory with nothing behind it
**
** A mapping whose end is followed by 2 MiB of reserved addresses without memory:
** an access behind the last element is an illegal address at once, for every
** thread and at full speed. The driver is reached through the runtime, never
** linked.
*/
#ifndef BENCH_HOLES_H
#define BENCH_HOLES_H

#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdbool.h>
#include <stddef.h>

struct holes_driver {
  bool asked, have;
  PFN_cuMemGetAllocationGranularity_v10020 granularity;
  PFN_cuMemAddressReserve_v10020 reserve;
  PFN_cuMemAddressFree_v10020 unreserve;
  PFN_cuMemCreate_v10020 create;
  PFN_cuMemRelease_v10020 release;
  PFN_cuMemMap_v10020 map;
  PFN_cuMemUnmap_v10020 unmap;
  PFN_cuMemSetAccess_v10020 access;
};

struct holes {
  CUdeviceptr at;
  size_t reserved, mapped; /* bytes; 0: nothing is */
};

/* The end of at least so many mapped bytes; a mapping that is large enough is kept, a smaller one is
** replaced. NULL where the driver refuses, and then always: no fault of anybody. */
char *holes_end(struct holes_driver *d, struct holes *h, int device, size_t bytes);

#endif
