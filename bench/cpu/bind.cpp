// bind.cpp -- see bind.h.
#include "bind.h"

#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <sstream>

namespace cpu {

void atomics_launch_begin(); // atomics.cpp

enum : int64_t { MOST_SMEM = 232448, MOST_THREADS = 1024, MOST_CLUSTER = 16 };

// ---- the kernel ----------------------------------------------------------------------------------

static std::string read_descriptor(const std::string &path, loom_desc *out) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "cannot open '" + path + "'";
  std::ostringstream text;
  text << in.rdbuf();
  const char *why = loom_desc_parse(text.str().c_str(), out);
  return why ? why : "";
}

template <class T> static bool symbol(void *so, const char *name, T *out) {
  void *p = dlsym(so, name);
  if (p) memcpy(out, &p, sizeof p);
  return p != nullptr;
}

std::string kernel_open(const std::string &so, const std::string &desc, Kernel *out) {
  const std::string why = read_descriptor(desc, &out->desc);
  if (!why.empty()) return why;
  out->so = dlopen(so.find('/') == std::string::npos ? ("./" + so).c_str() : so.c_str(),
                   RTLD_NOW | RTLD_LOCAL);
  if (!out->so) return dlerror();
  const int *count;
  const char *const *const *args;
  if (!symbol(out->so, "loom_cpu_entry", &out->entry) || !symbol(out->so, "loom_cpu_args", &args) ||
      !symbol(out->so, "loom_cpu_count", &count))
    return "'" + so + "' is no kernel for the CPU device: it lacks loom_cpu_entry and its like";
  out->count = *count;
  out->args = *args;
  return "";
}

void kernel_close(Kernel *k) {
  if (k->so) dlclose(k->so);
  k->so = nullptr;
}

static std::string pointer_type(const loom_desc &d, bool input) {
  return std::string(input ? "gptr<const " : "gptr<") + loom_dtype_name(d.dtype) + ">";
}

static bool argument_fits(const loom_desc &d, int arg, const std::string &type) {
  switch (arg) {
  case LOOM_ARG_A:
  case LOOM_ARG_B:
    return type == pointer_type(d, true);
  case LOOM_ARG_C:
    return type == pointer_type(d, false);
  case LOOM_ARG_ALPHA:
  case LOOM_ARG_BETA:
    return type == "float";
  case LOOM_ARG_WS:
    return type.compare(0, 5, "gptr<") == 0 && type.find("const") == std::string::npos;
  case LOOM_ARG_TENSOR:
    return type == "tensor_map";
  default:
    return type == "int";
  }
}

static void check_arguments(const Kernel &k) {
  const loom_desc &d = k.desc;
  if (k.count != d.nargs) {
    find_text(Kind::DESCRIPTOR, 0, 0,
              format("the kernel takes %d arguments, the descriptor names %d", k.count, d.nargs));
    return;
  }
  for (int i = 0; i < d.nargs; i++)
    if (!argument_fits(d, d.arg[i], k.args[i]))
      find_text(
          Kind::DESCRIPTOR, 0, 0,
          format("argument %d of the kernel is of type %s: not what '%s' of the descriptor is",
                 i + 1, k.args[i], d.arg_name[i]));
}

void kernel_check(const Kernel &k) {
  const loom_desc &d = k.desc;
  check_arguments(k);
  const auto most = [](const char *what, int64_t value, int64_t limit) {
    if (value > limit)
      find_text(Kind::DESCRIPTOR, 0, 0,
                format("%s: %lld, the most is %lld", what, static_cast<long long>(value),
                       static_cast<long long>(limit)));
  };
  most("bytes of shared memory", d.smem, MOST_SMEM);
  most("threads", d.block, MOST_THREADS);
  most("CTAs of a cluster", d.cluster, MOST_CLUSTER);
}

// ---- memory --------------------------------------------------------------------------------------

static const char *const operand_names[] = {"A", "B", "C"};

// The last row ends with its last element: what follows it is nobody's.
void Binding::place(const Placing &at) {
  const void **const pointers[] = {&call_.a, &call_.b, const_cast<const void **>(&call_.c)};
  global_clear();
  for (int i = LOOM_A; i <= LOOM_C; i++) {
    int dims[2];
    loom_stored_dims(call_.layout, i, dims);
    const int64_t row = call_.mnk[dims[0]], rows = call_.mnk[dims[1]], ld = loom_lead(&call_, i);
    const int64_t elements =
        ld < row ? row * rows : (rows - 1) * ld + row; // ld < row is refused later
    Region &r = global_add(operand_names[i], i == LOOM_C ? Use::OUTPUT : Use::INPUT,
                           static_cast<size_t>(2 * elements), static_cast<size_t>(at.shift));
    r.rows = static_cast<size_t>(rows);
    r.columns = static_cast<size_t>(row);
    r.ld = static_cast<size_t>(ld);
    if (i == LOOM_C) c_ = &r;
    pointers_[i] = r.address;
    *pointers[i] = reinterpret_cast<const void *>(r.address);
  }
  if (const size_t n = static_cast<size_t>(kernel_->desc.ws_bytes)) {
    Region &ws = global_add("ws", Use::WORKSPACE, n, 0);
    const bool zero = kernel_->desc.ws_init == LOOM_WS_ZERO;
    memset(ws.bytes.data(), zero ? 0 : 0xff, n);
    ws.shadow.set_initialised(0, n, zero);
    pointers_[3] = ws.address;
    call_.ws = reinterpret_cast<void *>(ws.address);
  }
  for (const char *name : {"A", "B", "C", "ws"})
    if (Region *r = global_find(name)) r->previous = at.pdl;
}

// From a matrix as in the product to its stored form; what lies between rows is NaN.
void Binding::fill(int operand, const std::vector<uint16_t> &from) {
  Region &r = *global_find(operand_names[operand]);
  const bool swapped = loom_swapped(call_.layout, operand);
  std::vector<uint16_t> stored(r.bytes.size() / 2, unwritten_mark(problem_->dtype));
  for (size_t y = 0; y < r.rows; y++)
    for (size_t x = 0; x < r.columns; x++)
      stored[y * r.ld + x] = swapped ? from[x * r.rows + y] : from[y * r.columns + x];
  memcpy(r.bytes.data(), stored.data(), r.bytes.size());
}

void Binding::refill() {
  fill(LOOM_C, problem_->c);
  c_->writer.assign(c_->rows * c_->ld, 0);
  c_->shadow.reset(c_->bytes.size(), problem_->factors.beta != 0);
  Region *ws = global_find("ws");
  if (ws && kernel_->desc.ws_init == LOOM_WS_NONE)
    ws->shadow.set_initialised(0, ws->bytes.size(), false);
}

uint16_t Binding::result(int64_t m, int64_t n) const {
  uint16_t v;
  memcpy(&v, c_->bytes.data() + 2 * (static_cast<size_t>(m) * c_->ld + static_cast<size_t>(n)), 2);
  return v;
}

Site Binding::writer(int64_t m, int64_t n) const {
  return c_->writer[static_cast<size_t>(m) * c_->ld + static_cast<size_t>(n)];
}

bool Binding::inputs_changed() const {
  return global_find("A")->bytes != pristine_[0] || global_find("B")->bytes != pristine_[1];
}

// ---- a launch ------------------------------------------------------------------------------------

std::string Binding::check_grid() {
  const loom_desc &d = kernel_->desc;
  if (launch_.grid == 0) return "problem has more tiles than a grid holds";
  if (launch_.grid % launch_.cluster != 0)
    return format("a grid of %u CTAs is not a multiple of the cluster of %lld", launch_.grid,
                  static_cast<long long>(d.cluster));
  if (launch_.whole_grid && launch_.grid > MOST_FIBERS / launch_.block)
    return format("the CPU device runs up to %u threads at once, and all %u CTAs of %u have to be "
                  "resident",
                  MOST_FIBERS, launch_.grid, launch_.block);
  return "";
}

std::string Binding::encode() {
  const loom_desc &d = kernel_->desc;
  for (int i = 0; i < d.ntensors; i++) {
    const loom_tensor &t = d.tensors[i];
    TensorShape s = {
        pointers_[t.operand],
        {static_cast<u64>(call_.mnk[t.dims[0]]), static_cast<u64>(call_.mnk[t.dims[1]])},
        static_cast<u64>(2 * loom_lead(&call_, t.operand)),
        {static_cast<u32>(t.box[0]), static_cast<u32>(t.box[1])},
        static_cast<int>(t.swizzle)};
    if (const char *why = tensor_map_encode(s, &maps_[i]))
      return format("cuTensorMapEncodeTiled refuses '%s': %s", t.name, why);
  }
  return "";
}

void Binding::collect_arguments() {
  const loom_desc &d = kernel_->desc;
  for (int i = 0; i < 3; i++) {
    numbers_[i] = static_cast<int>(call_.mnk[i]);
    numbers_[3 + i] = static_cast<int>(loom_lead(&call_, i));
  }
  factors_[0] = call_.alpha;
  factors_[1] = call_.beta;
  for (int i = 0; i < d.nargs; i++) {
    const int arg = d.arg[i];
    args_[i] = arg <= LOOM_ARG_C      ? static_cast<void *>(&pointers_[arg])
               : arg <= LOOM_ARG_LDC  ? static_cast<void *>(&numbers_[arg - LOOM_ARG_M])
               : arg <= LOOM_ARG_BETA ? static_cast<void *>(&factors_[arg - LOOM_ARG_ALPHA])
               : arg == LOOM_ARG_WS   ? static_cast<void *>(&pointers_[3])
                                      : static_cast<void *>(&maps_[d.arg_tensor[i]]);
  }
}

std::string Binding::bind(const Kernel &k, const Problem &p, const Placing &at, const Schedule &s) {
  const loom_desc &d = k.desc;
  kernel_ = &k;
  problem_ = &p;
  call_ = {};
  call_.layout = d.layout;
  call_.dtype = d.dtype;
  call_.acc = d.acc;
  const int64_t mnk[] = {p.M, p.N, p.K};
  memcpy(call_.mnk, mnk, sizeof mnk);
  memcpy(call_.ld, at.ld, sizeof at.ld);
  call_.alpha = p.factors.alpha;
  call_.beta = p.factors.beta;
  place(at);
  char err[LOOM_ERROR_TEXT] = "";
  if (loom_legal(&d, &call_, err) != LOOM_OK) return err;
  launch_ = Launch();
  launch_.entry = k.entry;
  launch_.args = args_;
  launch_.grid =
      loom_grid(&d, call_.mnk, s.sms < d.cluster ? d.cluster : s.sms); // a cluster has room
  launch_.block = static_cast<unsigned>(d.block);
  launch_.cluster = static_cast<unsigned>(d.cluster);
  launch_.smem = static_cast<size_t>(d.smem);
  launch_.whole_grid = d.cooperative || d.resident;
  launch_.pdl = at.pdl;
  launch_.schedule = s;
  std::string why = check_grid();
  if (why.empty()) why = encode();
  if (!why.empty()) return why;
  collect_arguments();
  fill(LOOM_A, p.a);
  fill(LOOM_B, p.b);
  pristine_[0] = global_find("A")->bytes;
  pristine_[1] = global_find("B")->bytes;
  refill();
  return "";
}

void Binding::launch() {
  global_launch_begin();
  atomics_launch_begin();
  cpu::launch(launch_);
}

} // namespace cpu
