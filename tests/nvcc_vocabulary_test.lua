-- nvcc_vocabulary_test.lua -- every function of the vocabulary is real PTX: a kernel that calls them all
-- compiles for sm_90a, those that sm_80 has for sm_80 too. Needs nvcc, no GPU: a part of `make check`.

local sh = require "tests_sh"

local LIB = host.root .. "/templates/lib"

-- Statements of a kernel over: gptr<const f16> a, gptr<const bf16> b, gptr<const u32> w, gptr<u32> u,
-- gptr<float> f, gptr<f16> h, u32 s (shared), i64 i, float x, u32 v, words<4> q, and the arrays below.
local SM_80 = [[
  s = smem_base(); cta_sync(); named_sync(1, 64); named_arrive(2, 64); warp_sync();
  v += shfl(v, 3); x += shfl(x, 3); v += shfl_xor(v, 3); x += shfl_xor(x, 3); grid_dep_wait(); grid_dep_launch();
  x += to_float(ldg<f16>(a, i)) + to_float(ldg<bf16>(b, i)) + unpack_lo<f16>(v) + unpack_hi<bf16>(v);
  v += pack<f16>(x, x) + pack<bf16>(x, x) + from_float<f16>(x).bits + from_float<bf16>(x).bits;
  stg<u32>(u, i, ldg<u32>(w, i)); stg<float>(f, i, x); stg_pair<f16>(h, i, v);
  stg_words<1>(u, i, ldg_words<1>(w, i)); stg_words<2>(h, i, ldg_words<2>(a, i));
  stg_words<4>(f, i, ldg_words<4>(b, i)); v += ldg<u32>(gptr_at<const u32>(a, 64), i);
  stg_words_stream<1>(u, i, ldg_words_stream<1>(w, i)); stg_words_stream<2>(h, i, ldg_words_stream<2>(a, i));
  stg_words_stream<4>(f, i, ldg_words_stream<4>(b, i)); v += gptr_past_16(a) + gptr_past_16(f);
  v += float_bits(x); x += bits_float(v);
  fence_gpu(); v += atom_add(u, i, v) + atom_add_acq_rel(u, i, v) + atom_inc(u, i, v) + atom_inc_acq_rel(u, i, v);
  red_add(f, i, x); red_add(u, i, v); v += ld_acquire(w, i) + ld_relaxed(w, i); st_release(u, i, v);
  x += lds_f32(s); sts_f32(s, x); v += atom_add_shared(s, v);
  sts_words<1>(s, lds_words<1>(s)); sts_words<2>(s, lds_words<2>(s)); sts_words<4>(s, lds_words<4>(s));
  ldmatrix_x1(r1, s); ldmatrix_x1_trans(r1, s); ldmatrix_x2(r2, s); ldmatrix_x2_trans(r2, s);
  ldmatrix_x4(r4, s); ldmatrix_x4_trans(r4, s);
  cp_async_16<f16>(s, a, i, v > 3); cp_async_8<bf16>(s, b, i, v > 3); cp_async_4<u32>(s, w, i, v > 3);
  cp_async_commit(); cp_async_wait<1>();
  mma_m16n8k16<f16>(d, r4, v, v); mma_m16n8k16<bf16>(d, r4, v, v); mma_m16n8k8<f16>(d, r2, v);
  mma_m16n8k8<bf16>(d, r2, v); mma_m16n8k16_f16(r2, r4, v, v); mma_m16n8k8_f16(r2, r2b, v);
]]
local SM_90 = [[
  stmatrix_x1(s, v); stmatrix_x2(s, v, v); stmatrix_x4(s, v, v, v, v);
  stmatrix_x1_trans(s, v); stmatrix_x2_trans(s, v, v); stmatrix_x4_trans(s, v, v, v, v);
  if (elect_one()) v++; v += warpgroup_index();
  mbar_init(s, 1); mbar_inval(s); fence_mbar_init(); mbar_arrive(s); mbar_expect_tx(s, 16); mbar_add_tx(s, 16);
  mbar_wait(s, 0); if (mbar_try(s, 1)) v++; mbar_wait_cluster(s, 1); cp_async_mbar_arrive(s);
  prefetch_tensor_map(&map); tma_load_2d(s, &map, 0, 1, s); tma_load_2d_multicast(s, &map, 0, 1, s, (u16)v);
  tma_load_2d_hint(s, &map, 0, 1, s, l2_evict_first()); tma_prefetch_2d(&map, 0, 1);
  tma_load_2d_multicast_hint(s, &map, 0, 1, s, (u16)v, l2_evict_last());
  tma_store_2d_hint(&map, s, 0, 1, l2_evict_normal());
  tma_store_2d(&map, s, 0, 1); tma_store_commit(); tma_store_wait_read<1>(); tma_store_wait<0>();
  bulk_load<f16>(s, a, i, v, s); bulk_store<f16>(h, i, s, v); bulk_push(s, s, v, s);
  fence_proxy_async(); fence_proxy_async_all(); fence_cluster();
  v += cluster_rank() + cluster_size(); cluster_arrive(); cluster_wait(); cluster_sync();
  v = map_shared(v, 1); mbar_arrive_cluster(v); mbar_arrive_peer(v);
  stc_words<1>(v, ldc_words<1>(v)); stc_words<2>(v, ldc_words<2>(v)); stc_words<4>(v, ldc_words<4>(v));
  st_async<1>(v, lds_words<1>(s), v); st_async<2>(v, lds_words<2>(s), v); st_async<4>(v, q, v);
]]
local SM_90A = [[
  setmaxnreg_dec<80>(); setmaxnreg_inc<96>(); wgmma_fence();
  u64 e = smem_desc(s, 16, 1024) + smem_desc<0>(s, 16, 128) + smem_desc<32>(s, 16, 256) + smem_desc<64>(s, 16, 512);
  wgmma<f16, 8, K_MAJOR, MN_MAJOR>(d, e, e, 1); wgmma<bf16, 8, MN_MAJOR, K_MAJOR>(d, e, e, v);
  wgmma_rs<f16, 8, K_MAJOR>(d, r4, e, 1); wgmma_rs<bf16, 8, MN_MAJOR>(d, r4, e, v);
  wgmma_f16<8, K_MAJOR, MN_MAJOR>(r2, e, e, 1); wgmma_f16_rs<8, K_MAJOR>(r2, r4, e, v);
  wgmma_commit(); wgmma_wait<0>();
]]
local PARTS = { sm_80 = SM_80, sm_90 = SM_80 .. SM_90, sm_90a = SM_80 .. SM_90 .. SM_90A }

local KERNEL = [[
#include "loom.cuh"
extern "C" __global__ void __launch_bounds__(128, 1)
loom_kernel(gptr<const f16> a, gptr<const bf16> b, gptr<const u32> w, gptr<u32> u, gptr<float> f, gptr<f16> h,
            i64 i, float x, u32 v, const __grid_constant__ tensor_map map) {
  u32 s = 0, r1[1] = {v}, r2[2] = {v, v}, r2b[2] = {v, v}, r4[4] = {v, v, v, v};
  float d[4] = {x, x, x, x};
  words<4> q = {{v, v, v, v}};
%s
  stg<u32>(u, 0, v + s + r1[0] + r2[0] + r2[1] + r4[0] + r4[1] + r4[2] + r4[3] + q.w[0] + r2b[0]);
  stg<float>(f, 1, x + d[0] + d[1] + d[2] + d[3]);
}
]]

local function need_nvcc()
  local have = sh.run { "sh", "-c", "command -v nvcc || test -x /usr/local/cuda/bin/nvcc" }
  if have.code ~= 0 then skip("no nvcc on this machine") end
  return have.output:match("^(%S+)") or "/usr/local/cuda/bin/nvcc"
end

local tests = {}
-- An object file takes a pass for the host as well, which reads the kernel too.
local function compiles(arch, kind)
  tests[#tests + 1] = {
    name = "the vocabulary compiles for " .. arch .. ", " .. kind,
    run = function()
      local nvcc, tmp = need_nvcc(), sh.tmpdir("vocabulary " .. arch)
      host.write(tmp .. "/v.cu", (KERNEL:gsub("%%s", (PARTS[arch]:gsub("%%", "%%%%")))))
      local run = sh.run { nvcc, "-std=c++17", "-O3", kind, "-gencode", "arch=compute" .. arch:sub(3) .. ",code=" .. arch,
                           "-I" .. LIB, "-o", tmp .. "/v.out", tmp .. "/v.cu" }
      assert(run.code == 0, run.output)
      sh.remove(tmp)
    end,
  }
end
for _, arch in ipairs { "sm_80", "sm_90", "sm_90a" } do compiles(arch, "-cubin") end
compiles("sm_90a", "-c")

-- So that nothing new is left out above; vocabulary_test.lua compares loom_host.h with loom.cuh.
tests[#tests + 1] = {
  name = "those kernels call every function that loom_host.h declares",
  run = function()
    local missing = {}
    for name in assert(host.read(LIB .. "/loom_host.h")):gmatch("LOOM_FN [^(\n]-([%a_][%w_]*)%(") do
      if not name:find("^loom_") and not PARTS.sm_90a:find("%f[%w_]" .. name .. "%f[^%w_]") then
        missing[#missing + 1] = name
      end
    end
    assert(#missing == 0, table.concat(missing, " "))
  end,
}
return tests
