// entry.cpp -- the one translation unit of an emitted kernel's .so: the kernel, and how to call it.
//
//   g++ -std=c++17 -O1 -fPIC -shared -I templates/lib -DLOOM_KERNEL='"K.cu"' -o K.so entry.cpp
//
// The CPU device finds three symbols: the entry, which takes pointers to the arguments (a gptr's is
// to a 64-bit address), the names of the arguments' types, and how many there are.
#include LOOM_KERNEL

#include <cstddef>
#include <utility>

namespace {

template <class T> struct argument;
template <> struct argument<int> { static constexpr const char *name = "int"; };
template <> struct argument<float> { static constexpr const char *name = "float"; };
template <> struct argument<tensor_map> { static constexpr const char *name = "tensor_map"; };
template <> struct argument<gptr<const f16>> {
  static constexpr const char *name = "gptr<const f16>";
};
template <> struct argument<gptr<const bf16>> {
  static constexpr const char *name = "gptr<const bf16>";
};
template <> struct argument<gptr<f16>> { static constexpr const char *name = "gptr<f16>"; };
template <> struct argument<gptr<bf16>> { static constexpr const char *name = "gptr<bf16>"; };
template <> struct argument<gptr<float>> { static constexpr const char *name = "gptr<float>"; };
template <> struct argument<gptr<u32>> { static constexpr const char *name = "gptr<u32>"; };

template <class T> struct taken {
  static const T &from(void *p) { return *static_cast<const T *>(p); }
};
template <class T> struct taken<gptr<T>> {
  static gptr<T> from(void *p) { return loom_address::to<T>(*static_cast<const u64 *>(p)); }
};

template <class... T> struct signature {
  static constexpr int count = sizeof...(T);
  static constexpr const char *names[] = {argument<T>::name..., nullptr};

  template <size_t... i>
  static void call(void (*kernel)(T...), void **args, std::index_sequence<i...>) {
    kernel(taken<T>::from(args[i])...);
  }
};

template <class... T> constexpr signature<T...> signature_of(void (*)(T...)) { return {}; }
using kernel_signature = decltype(signature_of(&loom_kernel));

} // namespace

extern "C" {
extern const int loom_cpu_count;
const int loom_cpu_count = kernel_signature::count;
extern const char *const *const loom_cpu_args;
const char *const *const loom_cpu_args = kernel_signature::names;

void loom_cpu_entry(void **args);
void loom_cpu_entry(void **args) {
  kernel_signature::call(&loom_kernel, args,
                         std::make_index_sequence<static_cast<size_t>(kernel_signature::count)>());
}
}
