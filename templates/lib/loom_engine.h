// loom_engine.h -- what the CPU device does for an emitted kernel: the functions behind loom_host.h.
//
// One function per instruction, not a template, with the line of the kernel that executes it. They
// are defined by bench/cpu; a kernel compiled for syntax alone never calls them. Global addresses
// are numbers of the CPU device's own, shared ones as on the GPU 32 bits.
#pragma once

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

struct tensor_map;

namespace loom_engine {

// Where in the kernel's source an instruction stands.
struct site {
  const char *file;
  int line;
  static constexpr site here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

struct index3 {
  unsigned x, y, z;
};
struct thread_indices { // of the thread that runs
  index3 thread, block, block_dim, grid_dim;
};
extern const thread_indices *current;

enum class number { f16, bf16 };
enum class copy_kind { bytes4 = 4, bytes8 = 8, bytes16 = 16 };
enum class shuffle { index, exclusive_or };
enum class atomic { add, inc, exchange };
enum class eviction { first, last, normal };
enum class order { relaxed, acquire, release, acq_rel };

// threads and grid
void cta_sync(site at);
void named_sync(int id, int threads, site at);
void named_arrive(int id, int threads, site at);
void warp_sync(site at);
bool elect_one(site at);
u32 shfl(shuffle kind, u32 value, int lane, site at);
int warpgroup_index(site at); // a collective of the warp
void setmaxnreg(bool increase, int regs, site at);
void grid_dep_wait(site at);
void grid_dep_launch(site at);

// numbers: bits of the 16-bit format
float to_float(number type, u16 bits);
u16 from_float(number type, float x); // to nearest even

// memory: `bytes` at a global address / a shared address of this CTA / of the cluster
void load_global(void *to, u64 address, int bytes, site at);
void store_global(u64 address, const void *from, int bytes, site at);
void load_global_stream(void *to, u64 address, int bytes, site at); // of what nobody writes
void store_global_stream(u64 address, const void *from, int bytes, site at);
u32 atom_global(atomic op, order sem, u64 address, u32 value, site at);
void red_global_f32(u64 address, float value, site at);
u32 load_global_ordered(order sem, u64 address, site at);
void store_global_ordered(order sem, u64 address, u32 value, site at);
void load_shared(void *to, u32 address, int bytes, site at);
void store_shared(u32 address, const void *from, int bytes, site at);
u32 atom_add_shared(u32 address, u32 value, site at);
void load_cluster(void *to, u32 address, int bytes, site at);
void store_cluster(u32 address, const void *from, int bytes, site at);
void store_async(u32 address, const void *from, int bytes, u32 bar, site at);
void fence_gpu(site at);
void fence_cluster(site at);
void fence_proxy_async(bool global_too, site at);

// matrices: count 1, 2 or 4 of 8x8
void ldmatrix(u32 *r, int count, bool trans, u32 address, site at);
void stmatrix(u32 address, const u32 *r, int count, bool trans, site at);
// d: 4 floats, or 2 registers of f16 pairs where f16_acc; k 8 or 16; a: k/4 registers, b: k/8
void mma(void *d, const u32 *a, const u32 *b, int k, number type, bool f16_acc, site at);

// cp.async
void cp_async(u32 dst, u64 src, int bytes, bool valid, site at);
void cp_async_commit(site at);
void cp_async_wait(int pending, site at);
void cp_async_mbar_arrive(u32 bar, site at);

// mbarriers; `cluster`: an address of the cluster's shared memory, else this CTA's
void mbar_init(u32 bar, u32 arrivals, site at);
void mbar_inval(u32 bar, site at);
void fence_mbar_init(site at);
void mbar_arrive(u32 bar, bool cluster, site at);
void mbar_expect_tx(u32 bar, u32 bytes, bool arrive, site at);
void mbar_wait(u32 bar, u32 parity, bool cluster_scope, site at);
bool mbar_try(u32 bar, u32 parity, site at);

// TMA; mask 0: this CTA alone
void prefetch_tensor_map(const tensor_map *map, site at);
void tma_load_2d(u32 dst, const tensor_map *map, int x, int y, u32 bar, u16 mask, site at);
void tma_store_2d(const tensor_map *map, u32 src, int x, int y, site at);
u64 l2_policy(eviction order); // what the functions that take a policy accept
void tma_load_2d_hint(u32 dst, const tensor_map *map, int x, int y, u32 bar, u16 mask, u64 policy,
                      site at);
void tma_store_2d_hint(const tensor_map *map, u32 src, int x, int y, u64 policy, site at);
void tma_prefetch_2d(const tensor_map *map, int x, int y, site at);
void bulk_load(u32 dst, u64 src, u32 bytes, u32 bar, site at);
void bulk_store(u64 dst, u32 src, u32 bytes, site at);
void bulk_push(u32 dst, u32 src, u32 bytes, u32 bar, site at);
void tma_store_commit(site at);
void tma_store_wait(int pending, bool read_only, site at); // read_only: until their reads are done

// clusters
u32 cluster_rank();
u32 cluster_size();
void cluster_arrive(site at);
void cluster_wait(site at);
u32 map_shared(u32 address, u32 rank, site at);
u32 smem_base();

// wgmma; a_registers: A's fragment, or null where descriptor a names it
struct wgmma_kind {
  int n;
  number type;
  bool f16_acc;
  int major_a, major_b; // 0: K, 1: MN
};
void wgmma_fence(site at);
void wgmma_commit(site at);
void wgmma_wait(int pending, site at);
void wgmma(const wgmma_kind &kind, void *d, const u32 *a_registers, u64 a, u64 b, int accumulate,
           site at);

} // namespace loom_engine
