/* desc.c - reads a launch descriptor
**
** The descriptor's grammar is the tables below, one row a field, in the order
** in which lua/desc.lua writes them. A reader walks a table over the text and
** fills a struct by offsets; everything that JSON allows and a descriptor does
** not use (floats, escapes, other orders, unknown fields) is refused. Then the
** rules that tie fields together are checked. Nothing is allocated.
*/
#include "desc.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct reader {
  const char *start, *at;
  char *error; /* loom_desc.error; the first error wins */
};

struct field {
  const char *name;
  bool (*read)(struct reader *r, const struct field *f, char *base);
  size_t at;                /* offset in the struct the table fills */
  int64_t lo, hi;           /* integers: range; text: most characters; arrays: least, most items */
  const char *const *words; /* word: the names allowed, NULL-terminated */
  const struct field *sub;  /* object: its fields; array: its item */
  size_t size;              /* array: distance of two items in the struct */
  size_t count_at;          /* array: offset of the int that counts the items; 0: none */
};

static const size_t error_size = sizeof((loom_desc *)0)->error;

__attribute__((format(printf, 2, 3))) static bool refuse(char *error, const char *format, ...) {
  if (error[0] == 0) {
    va_list args;
    va_start(args, format);
    vsnprintf(error, error_size, format, args);
    va_end(args);
  }
  return false;
}

/* Text: blanks, single characters, literals */

static void skip_blanks(struct reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

static bool wrong(struct reader *r, const char *expected) {
  long byte = (long)(r->at - r->start) + 1;
  if (*r->at == 0)
    return refuse(r->error, "descriptor ends at byte %ld, expected %s", byte, expected);
  return refuse(r->error, "descriptor byte %ld: expected %s", byte, expected);
}

static bool expect(struct reader *r, char c) {
  skip_blanks(r);
  if (*r->at != c) {
    char text[4] = {'\'', c, '\'', 0};
    return wrong(r, text);
  }
  r->at++;
  return true;
}

static bool accept(struct reader *r, char c) {
  skip_blanks(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

/* A string of printable ASCII without escapes into out[size]. */
static bool read_string(struct reader *r, char *out, size_t size, const char *what) {
  skip_blanks(r);
  if (*r->at != '"') return wrong(r, what);
  r->at++;
  size_t n = 0;
  for (; *r->at != '"'; r->at++) {
    unsigned char c = (unsigned char)*r->at;
    if (c < 0x20 || c > 0x7e || c == '\\') return wrong(r, "plain text up to a closing '\"'");
    if (n + 1 >= size) return wrong(r, "a shorter text");
    out[n++] = (char)c;
  }
  out[n] = 0;
  r->at++;
  return true;
}

/* Field readers */

static bool read_int(struct reader *r, const struct field *f, char *base) {
  skip_blanks(r);
  const char *begin = r->at;
  int64_t v = 0;
  for (; *r->at >= '0' && *r->at <= '9'; r->at++) {
    if (r->at - begin >= 15) return wrong(r, "an integer of at most 15 digits");
    v = v * 10 + (*r->at - '0');
  }
  bool lone = r->at - begin == 1 || *begin != '0';
  bool more = *r->at == '.' || *r->at == 'e' || *r->at == 'E';
  if (r->at == begin || !lone || more) return wrong(r, "a plain integer");
  if (v < f->lo || v > f->hi)
    return refuse(r->error, "descriptor field '%s': %lld is not within %lld to %lld", f->name,
                  (long long)v, (long long)f->lo, (long long)f->hi);
  memcpy(base + f->at, &v, sizeof v);
  return true;
}

static bool read_bool(struct reader *r, const struct field *f, char *base) {
  skip_blanks(r);
  bool v = strncmp(r->at, "true", 4) == 0;
  if (!v && strncmp(r->at, "false", 5) != 0) return wrong(r, "true or false");
  r->at += v ? 4 : 5;
  memcpy(base + f->at, &v, sizeof v);
  return true;
}

static bool read_text(struct reader *r, const struct field *f, char *base) {
  if (!read_string(r, base + f->at, (size_t)f->hi, "a text")) return false;
  if (base[f->at] == 0) return refuse(r->error, "descriptor field '%s' is empty", f->name);
  return true;
}

static int find_word(const char *const *words, const char *word) {
  for (int i = 0; words[i]; i++)
    if (strcmp(words[i], word) == 0) return i;
  return -1;
}

static bool read_word(struct reader *r, const struct field *f, char *base) {
  char word[LOOM_MAX_NAME];
  if (!read_string(r, word, sizeof word, "a text")) return false;
  int i = find_word(f->words, word);
  if (i < 0) return refuse(r->error, "descriptor field '%s': unknown word '%s'", f->name, word);
  memcpy(base + f->at, &i, sizeof i);
  return true;
}

static bool read_object(struct reader *r, const struct field *f, char *base) {
  if (!expect(r, '{')) return false;
  for (const struct field *sub = f->sub; sub->name; sub++) {
    char name[LOOM_MAX_NAME];
    if (sub != f->sub && !accept(r, ','))
      return refuse(r->error, "descriptor byte %ld: expected ',' and field '%s'",
                    (long)(r->at - r->start) + 1, sub->name);
    if (!read_string(r, name, sizeof name, "a field name")) return false;
    if (strcmp(name, sub->name) != 0)
      return refuse(r->error, "descriptor has field '%s' where '%s' is expected", name, sub->name);
    if (!expect(r, ':') || !sub->read(r, sub, base + f->at)) return false;
  }
  if (accept(r, ',')) {
    char name[LOOM_MAX_NAME];
    if (!read_string(r, name, sizeof name, "a field name")) return false;
    return refuse(r->error, "descriptor has an unknown field '%s'", name);
  }
  return expect(r, '}');
}

static bool read_array(struct reader *r, const struct field *f, char *base) {
  int n = 0;
  if (!expect(r, '[')) return false;
  if (!accept(r, ']')) {
    do {
      if (n >= f->hi) return refuse(r->error, "descriptor field '%s' has too many items", f->name);
      if (!f->sub->read(r, f->sub, base + f->at + (size_t)n * f->size)) return false;
      n++;
    } while (accept(r, ','));
    if (!expect(r, ']')) return false;
  }
  if (n < f->lo) return refuse(r->error, "descriptor field '%s' has too few items", f->name);
  if (f->count_at) memcpy(base + f->count_at, &n, sizeof n);
  return true;
}

/* The grammar */

#define AT(member) offsetof(loom_desc, member)
#define TENSOR_AT(member) offsetof(struct loom_tensor, member)
#define INT(name, at, lo, hi)                                                                      \
  { name, read_int, at, lo, hi, NULL, NULL, 0, 0 }
#define BOOL(name, at)                                                                             \
  { name, read_bool, at, 0, 0, NULL, NULL, 0, 0 }
#define TEXT(name, at, size)                                                                       \
  { name, read_text, at, 0, size, NULL, NULL, 0, 0 }
#define WORD(name, at, words)                                                                      \
  { name, read_word, at, 0, 0, words, NULL, 0, 0 }
#define OBJECT(name, sub)                                                                          \
  { name, read_object, 0, 0, 0, NULL, sub, 0, 0 }
#define ARRAY(name, at, lo, hi, item, size, count)                                                 \
  { name, read_array, at, lo, hi, NULL, item, size, count }
#define END                                                                                        \
  { NULL, NULL, 0, 0, 0, NULL, NULL, 0, 0 }

static const char *const layouts[] = {"nn", "tn", "nt", "tt", NULL};
static const char *const dtypes[] = {"f16", "bf16", NULL};
static const char *const accs[] = {"f32", "f16", NULL};
static const char *const rules[] = {"tiles", "persistent", NULL};
static const char *const inits[] = {"none", "zero", NULL};
static const char *const operands[] = {"A", "B", "C", NULL};
static const char *const dims[] = {"M", "N", "K", NULL};
static const char *const strides[] = {"lda", "ldb", "ldc", NULL};
static const char *const args[] = {"A",   "B",   "C",     "M",    "N",  "K", "lda",
                                   "ldb", "ldc", "alpha", "beta", "ws", NULL}; /* enum loom_arg */

static const struct field arg_item = TEXT("args", 0, LOOM_MAX_NAME);
static const struct field tile_item = INT("tile", 0, 1, 1 << 20);
static const struct field dim_item = WORD("dims", 0, dims);
static const struct field box_item = INT("box", 0, 1, 256);

static const struct field grid_fields[] = {
    WORD("rule", AT(rule), rules),
    ARRAY("tile", AT(tile), 2, 2, &tile_item, sizeof(int64_t), 0),
    INT("split_k", AT(split_k), 1, 65536),
    INT("ctas_per_sm", AT(ctas_per_sm), 1, 32),
    END,
};

static const struct field tensor_fields[] = {
    TEXT("name", TENSOR_AT(name), LOOM_MAX_NAME),
    WORD("operand", TENSOR_AT(operand), operands),
    ARRAY("dims", TENSOR_AT(dims), 2, 2, &dim_item, sizeof(int), 0),
    WORD("stride", TENSOR_AT(stride), strides),
    ARRAY("box", TENSOR_AT(box), 2, 2, &box_item, sizeof(int64_t), 0),
    INT("swizzle", TENSOR_AT(swizzle), 0, 128),
    INT("l2", TENSOR_AT(l2), 0, 256),
    END,
};
static const struct field tensor_item = OBJECT("tensors", tensor_fields);

static const struct field workspace_fields[] = {
    INT("bytes", AT(ws_bytes), 0, 1LL << 40),
    WORD("init", AT(ws_init), inits),
    END,
};

static const struct field legal_fields[] = {
    INT("m", AT(legal_mnk[LOOM_M]), 1, 1 << 20),
    INT("n", AT(legal_mnk[LOOM_N]), 1, 1 << 20),
    INT("k", AT(legal_mnk[LOOM_K]), 1, 1 << 20),
    INT("ld", AT(legal_ld), 1, 1 << 20),
    INT("align", AT(legal_align), 1, 1 << 20),
    INT("M", AT(baked[LOOM_M]), 0, INT32_MAX),
    INT("N", AT(baked[LOOM_N]), 0, INT32_MAX),
    INT("K", AT(baked[LOOM_K]), 0, INT32_MAX),
    BOOL("resident", AT(resident)),
    END,
};

static const struct field desc_fields[] = {
    INT("loom", AT(version), 0, INT32_MAX),
    TEXT("kernel", AT(kernel), LOOM_MAX_NAME),
    TEXT("key", AT(key), LOOM_MAX_KEY),
    TEXT("arch", AT(arch), 16),
    WORD("layout", AT(layout), layouts),
    WORD("dtype", AT(dtype), dtypes),
    WORD("acc", AT(acc), accs),
    ARRAY("args", AT(arg_name), 1, LOOM_MAX_ARGS, &arg_item, LOOM_MAX_NAME, AT(nargs)),
    OBJECT("grid", grid_fields),
    INT("block", AT(block), 32, 1024),
    INT("cluster", AT(cluster), 1, 16),
    INT("smem", AT(smem), 0, 1 << 20),
    BOOL("cooperative", AT(cooperative)),
    BOOL("pdl", AT(pdl)),
    ARRAY("tensors", AT(tensors), 0, LOOM_MAX_TENSORS, &tensor_item, sizeof(struct loom_tensor),
          AT(ntensors)),
    OBJECT("workspace", workspace_fields),
    OBJECT("legal", legal_fields),
    END,
};
static const struct field desc_root = OBJECT("descriptor", desc_fields);

/* Rules that tie fields together */

static bool check_names(loom_desc *d) {
  int i = 0;
  for (const char *p = d->kernel; *p; p++, i++) {
    bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
    if (!letter && !(i > 0 && *p >= '0' && *p <= '9'))
      return refuse(d->error, "descriptor field 'kernel': '%s' is no C name", d->kernel);
  }
  if (strncmp(d->arch, "sm_", 3) != 0 || d->arch[3] < '1' || d->arch[3] > '9')
    return refuse(d->error, "descriptor field 'arch': '%s' is no sm_ architecture", d->arch);
  if (d->dtype == LOOM_BF16 && d->acc == LOOM_ACC_F16)
    return refuse(d->error, "bf16 with f16 accumulation does not exist on tensor cores");
  return true;
}

static bool check_shape(loom_desc *d) {
  if (d->block % 32 != 0)
    return refuse(d->error, "descriptor field 'block': %lld is not a multiple of 32",
                  (long long)d->block);
  if ((d->legal_align & (d->legal_align - 1)) != 0)
    return refuse(d->error, "descriptor field 'align': %lld is not a power of two",
                  (long long)d->legal_align);
  for (int i = 0; i < 3; i++)
    if (d->baked[i] % d->legal_mnk[i] != 0)
      return refuse(d->error, "descriptor bakes %s=%lld, which its own 'legal' refuses", dims[i],
                    (long long)d->baked[i]);
  return true;
}

static bool check_box(loom_desc *d, const struct loom_tensor *t) {
  bool swizzle = t->swizzle == 0 || t->swizzle == 32 || t->swizzle == 64 || t->swizzle == 128;
  bool l2 = t->l2 == 0 || t->l2 == 64 || t->l2 == 128 || t->l2 == 256;
  if (!swizzle || !l2)
    return refuse(d->error, "tensor '%s': no such %s mode: %lld", t->name,
                  swizzle ? "l2" : "swizzle", (long long)(swizzle ? t->l2 : t->swizzle));
  int64_t inner = t->box[0] * 2;
  if (inner % 16 != 0)
    return refuse(d->error, "tensor '%s': an inner box of %lld bytes is not a multiple of 16",
                  t->name, (long long)inner);
  if (t->swizzle && inner > t->swizzle)
    return refuse(d->error, "tensor '%s': an inner box of %lld bytes exceeds the swizzle of %lld",
                  t->name, (long long)inner, (long long)t->swizzle);
  return true;
}

static bool check_tensors(loom_desc *d) {
  for (int i = 0; i < d->ntensors; i++) {
    const struct loom_tensor *t = &d->tensors[i];
    int want[2];
    loom_stored_dims(d->layout, t->operand, want);
    if (strncmp(t->name, "tmap_", 5) != 0)
      return refuse(d->error, "tensor '%s' is not named tmap_*", t->name);
    for (int j = 0; j < i; j++)
      if (strcmp(d->tensors[j].name, t->name) == 0)
        return refuse(d->error, "tensor '%s' is given twice", t->name);
    if (t->dims[0] != want[0] || t->dims[1] != want[1] || t->stride != t->operand)
      return refuse(d->error, "tensor '%s': %s of layout %s has dims %s,%s and stride %s", t->name,
                    operands[t->operand], layouts[d->layout], dims[want[0]], dims[want[1]],
                    strides[t->operand]);
    if (!check_box(d, t)) return false;
  }
  return true;
}

static bool find_arg(loom_desc *d, int i) {
  int word = find_word(args, d->arg_name[i]);
  d->arg[i] = word < 0 ? LOOM_ARG_TENSOR : word;
  for (int t = 0; word < 0 && t < d->ntensors; t++)
    if (strcmp(d->tensors[t].name, d->arg_name[i]) == 0) {
      d->arg_tensor[i] = t;
      return true;
    }
  return word >= 0 || refuse(d->error, "unknown kernel argument '%s'", d->arg_name[i]);
}

static bool check_args(loom_desc *d) {
  unsigned used = 0;
  bool ws = false;
  for (int i = 0; i < d->nargs; i++) {
    if (!find_arg(d, i)) return false;
    for (int j = 0; j < i; j++)
      if (strcmp(d->arg_name[j], d->arg_name[i]) == 0)
        return refuse(d->error, "kernel argument '%s' is given twice", d->arg_name[i]);
    if (d->arg[i] == LOOM_ARG_TENSOR) used |= 1u << d->arg_tensor[i];
    ws = ws || d->arg[i] == LOOM_ARG_WS;
  }
  for (int t = 0; t < d->ntensors; t++)
    if (!(used >> t & 1))
      return refuse(d->error, "tensor '%s' is no kernel argument", d->tensors[t].name);
  if (ws != (d->ws_bytes > 0))
    return refuse(d->error, ws ? "kernel argument 'ws' without workspace bytes"
                               : "workspace bytes without a kernel argument 'ws'");
  return true;
}

const char *loom_desc_parse(const char *json, loom_desc *out) {
  memset(out, 0, sizeof *out);
  struct reader r = {json, json, out->error};
  struct field version = desc_fields[0];
  struct reader peek = r; /* the version comes before every other complaint */
  char name[LOOM_MAX_NAME];
  if (!expect(&peek, '{') || !read_string(&peek, name, sizeof name, "field 'loom'"))
    return out->error;
  if (strcmp(name, "loom") != 0)
    return refuse(out->error, "descriptor does not begin with field 'loom'"), out->error;
  if (!expect(&peek, ':') || !read_int(&peek, &version, (char *)out)) return out->error;
  if (out->version != 1)
    return refuse(out->error, "descriptor version %lld is not known, this reader knows 1",
                  (long long)out->version),
           out->error;
  if (!read_object(&r, &desc_root, (char *)out)) return out->error;
  skip_blanks(&r);
  if (*r.at != 0) return wrong(&r, "the end"), out->error;
  bool ok = check_names(out) && check_shape(out) && check_tensors(out) && check_args(out);
  return ok ? NULL : out->error;
}

/* Words and layouts, also for the launcher and the worker */

int loom_layout_of(const char *name) { return find_word(layouts, name); }
int loom_dtype_of(const char *name) { return find_word(dtypes, name); }
const char *loom_layout_name(int layout) { return layouts[layout]; }
const char *loom_dtype_name(int dtype) { return dtypes[dtype]; }

bool loom_swapped(int layout, int operand) {
  if (operand == LOOM_A) return layout == LOOM_NT || layout == LOOM_TT;
  if (operand == LOOM_B) return layout == LOOM_TN || layout == LOOM_TT;
  return false;
}

void loom_stored_dims(int layout, int operand, int out[2]) {
  static const int plain[3][2] = {{LOOM_K, LOOM_M}, {LOOM_N, LOOM_K}, {LOOM_N, LOOM_M}};
  bool swap = loom_swapped(layout, operand);
  out[0] = plain[operand][swap];
  out[1] = plain[operand][!swap];
}
