/* holes.c - memory with nothing behind it */
#include "holes.h"

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const size_t least = 8 << 20; /* bytes of a mapping: most shapes fit into one of these */

/* Driver */

/* 'out' points to a function pointer. */
static bool find(const char *name, void *out) {
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  void *entry = NULL;
  if (cudaGetDriverEntryPointByVersion(name, &entry, 10020, cudaEnableDefault, &found) !=
      cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  if (found != cudaDriverEntryPointSuccess || !entry) return false;
  memcpy(out, &entry, sizeof entry);
  return true;
}

static bool find_all(struct holes_driver *d) {
  return find("cuMemGetAllocationGranularity", &d->granularity) &&
         find("cuMemAddressReserve", &d->reserve) && find("cuMemAddressFree", &d->unreserve) &&
         find("cuMemCreate", &d->create) && find("cuMemRelease", &d->release) &&
         find("cuMemMap", &d->map) && find("cuMemUnmap", &d->unmap) &&
         find("cuMemSetAccess", &d->access);
}

/* Mappings */

static void drop(const struct holes_driver *d, struct holes *h) {
  if (h->mapped) (void)d->unmap(h->at, h->mapped);
  if (h->reserved) (void)d->unreserve(h->at, h->reserved);
  memset(h, 0, sizeof *h);
}

/* The mapping keeps the memory: the handle can go at once. */
static bool map(const struct holes_driver *d, struct holes *h, const CUmemAllocationProp *prop,
                size_t bytes) {
  CUmemAccessDesc access = {.location = prop->location,
                            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle memory;
  if (d->create(&memory, bytes, prop, 0) != CUDA_SUCCESS) return false;
  if (d->map(h->at, bytes, 0, memory, 0) == CUDA_SUCCESS) h->mapped = bytes;
  (void)d->release(memory);
  return h->mapped && d->access(h->at, bytes, &access, 1) == CUDA_SUCCESS;
}

static bool make(const struct holes_driver *d, struct holes *h, int device, size_t bytes) {
  CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
  size_t unit = 0;
  if (d->granularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS || !unit)
    return false;
  if (bytes < least) bytes = least;
  bytes = (bytes + unit - 1) / unit * unit;
  if (d->reserve(&h->at, bytes + unit, 0, 0, 0) != CUDA_SUCCESS) return false;
  h->reserved = bytes + unit;
  return map(d, h, &prop, bytes);
}

char *holes_end(struct holes_driver *d, struct holes *h, int device, size_t bytes) {
  const char *set = getenv("LOOM_HOLES"); /* 0: for tools that follow cudaMalloc alone */
  if (!d->asked) d->have = !(set && strcmp(set, "0") == 0) && find_all(d);
  d->asked = true;
  if (!d->have) return NULL;
  if (h->mapped < bytes) {
    drop(d, h);
    if (!make(d, h, device, bytes)) {
      drop(d, h);
      d->have = false;
      return NULL;
    }
  }
  return (char *)(uintptr_t)(h->at + h->mapped);
}
