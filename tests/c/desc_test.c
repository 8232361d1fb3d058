/* desc_test.c - the descriptor reader takes version 1 and nothing else
**
** Good lines are read field by field. Each refusal is one row: an edit of a good
** line and a piece of the text it must be refused with. Then the line is cut at
** every byte and every byte is flipped in 9 ways; run under ASan and UBSan.
*/
#include "../../gen/desc.h"
#include "ok.h"

#include <stdlib.h>
#include <string.h>

static const char good[] =
    "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32\","
    "\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\","
    "\"args\":[\"tmap_a\",\"tmap_b\",\"C\",\"M\",\"N\",\"K\",\"ws\"],"
    "\"grid\":{\"rule\":\"persistent\",\"tile\":[128,256],\"split_k\":2,\"ctas_per_sm\":1},"
    "\"block\":384,\"cluster\":2,\"smem\":229632,\"cooperative\":false,\"pdl\":true,"
    "\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\","
    "\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\","
    "\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,256],\"swizzle\":128,\"l2\":0}],"
    "\"workspace\":{\"bytes\":4096,\"init\":\"zero\"},"
    "\"legal\":{\"m\":8,\"n\":16,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":4096,"
    "\"resident\":true}}";

static const char plain[] =
    "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"simt:x=1\",\"arch\":\"sm_80\","
    "\"layout\":\"nt\",\"dtype\":\"bf16\",\"acc\":\"f32\",\"args\":[\"A\",\"B\",\"C\",\"M\",\"N\","
    "\"K\",\"lda\",\"ldb\",\"ldc\",\"alpha\",\"beta\"],\"grid\":{\"rule\":\"tiles\",\"tile\":[64,"
    "64],\"split_k\":1,\"ctas_per_sm\":1},\"block\":256,\"cluster\":1,\"smem\":0,"
    "\"cooperative\":false,\"pdl\":false,\"tensors\":[],\"workspace\":{\"bytes\":0,\"init\":"
    "\"none\"},\"legal\":{\"m\":1,\"n\":1,\"k\":1,\"ld\":1,\"align\":2,\"M\":0,\"N\":0,\"K\":0,"
    "\"resident\":false}}\n";

static loom_desc d;

/* Parses an exact-size heap copy, so that ASan sees any read past the end. */
static const char *parse(const char *text, size_t n) {
  char *copy = malloc(n + 1);
  if (!copy) abort();
  memcpy(copy, text, n);
  copy[n] = 0;
  const char *why = loom_desc_parse(copy, &d);
  free(copy);
  return why;
}

static void reads_every_field(void) {
  const char *why = parse(good, strlen(good));
  ok(!why, "a complete line is read (%s)", why ? why : "no error");
  ok(strcmp(d.kernel, "loom_kernel") == 0 && strcmp(d.arch, "sm_90a") == 0 &&
         strcmp(d.key, "hopper:layout=tn,dtype=f16,acc=f32") == 0,
     "kernel, arch and key are read");
  ok(d.layout == LOOM_TN && d.dtype == LOOM_F16 && d.acc == LOOM_ACC_F32,
     "the problem's kind is read");
  ok(d.nargs == 7 && d.arg[0] == LOOM_ARG_TENSOR && d.arg_tensor[0] == 0 &&
         d.arg[1] == LOOM_ARG_TENSOR && d.arg_tensor[1] == 1 && d.arg[2] == LOOM_ARG_C &&
         d.arg[3] == LOOM_ARG_M && d.arg[6] == LOOM_ARG_WS,
     "arguments are resolved");
  ok(d.rule == LOOM_GRID_PERSISTENT && d.tile[0] == 128 && d.tile[1] == 256 && d.split_k == 2 &&
         d.ctas_per_sm == 1,
     "the grid rule is read");
  ok(d.block == 384 && d.cluster == 2 && d.smem == 229632 && !d.cooperative && d.pdl,
     "the launch's numbers are read");
  const struct loom_tensor *t = &d.tensors[1];
  ok(d.ntensors == 2 && t->operand == LOOM_B && t->dims[0] == LOOM_K && t->dims[1] == LOOM_N &&
         t->stride == LOOM_B && t->box[0] == 64 && t->box[1] == 256 && t->swizzle == 128 &&
         t->l2 == 0,
     "tensors are read");
  ok(d.ws_bytes == 4096 && d.ws_init == LOOM_WS_ZERO, "the workspace is read");
  ok(d.legal_mnk[LOOM_N] == 16 && d.legal_ld == 8 && d.legal_align == 16 &&
         d.baked[LOOM_K] == 4096 && d.baked[LOOM_M] == 0 && d.resident,
     "legality is read");
  why = parse(plain, strlen(plain));
  ok(!why, "a line without tensors and with a final newline is read (%s)", why ? why : "no error");
  ok(d.nargs == 11 && d.arg[9] == LOOM_ARG_ALPHA && d.layout == LOOM_NT && d.dtype == LOOM_BF16,
     "its words are read");
}

/* The good line with the first 'from' replaced by 'to'. */
static char *edited(const char *from, const char *to) {
  static char out[4096];
  const char *at = strstr(good, from);
  if (!at) {
    printf("not ok the good line has no '%s'\n", from);
    exit(1);
  }
  snprintf(out, sizeof out, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
  return out;
}

static const struct {
  const char *name, *from, *to, *text;
} refusals[] = {
    {"version 2", "\"loom\":1", "\"loom\":2", "version 2 is not known"},
    {"version 0", "\"loom\":1", "\"loom\":0", "version 0 is not known"},
    {"a missing version", "\"loom\":1,", "", "does not begin with field 'loom'"},
    {"an unknown field", "\"block\"", "\"blok\"", "'blok' where 'block'"},
    {"an unknown last field", "true}}", "true},\"more\":1}", "unknown field 'more'"},
    {"an unknown inner field", "\"resident\":true", "\"resident\":true,\"x\":1",
     "unknown field 'x'"},
    {"a missing field", "\"block\":384,", "", "'cluster' where 'block'"},
    {"a repeated field", "\"cluster\":2", "\"block\":384", "'block' where 'cluster'"},
    {"another order", "\"cluster\":2,\"smem\":229632", "\"smem\":229632,\"cluster\":2",
     "where 'cluster'"},
    {"text for an integer", "\"block\":384", "\"block\":\"384\"", "plain integer"},
    {"a float", "\"block\":384", "\"block\":384.0", "plain integer"},
    {"an exponent", "\"block\":384", "\"block\":3e2", "plain integer"},
    {"a leading zero", "\"block\":384", "\"block\":0384", "plain integer"},
    {"a negative number", "\"block\":384", "\"block\":-384", "plain integer"},
    {"a huge number", "\"block\":384", "\"block\":99999999999999999999", "at most 15 digits"},
    {"an integer for a text", "\"kernel\":\"loom_kernel\"", "\"kernel\":1", "a text"},
    {"an integer for a boolean", "\"pdl\":true", "\"pdl\":1", "true or false"},
    {"null", "\"pdl\":true", "\"pdl\":null", "true or false"},
    {"an escape", "hopper:", "hopper\\u003a", "plain text"},
    {"a control character", "hopper:", "hopper\t", "plain text"},
    {"a non-ASCII character", "hopper:", "h\xc3\xb6pper:", "plain text"},
    {"an empty key", "hopper:layout=tn,dtype=f16,acc=f32", "", "'key' is empty"},
    {"a kernel that is no name", "loom_kernel", "loom kernel", "no C name"},
    {"a kernel that begins with a digit", "loom_kernel", "1kernel", "no C name"},
    {"a strange arch", "sm_90a", "gfx90a", "no sm_ architecture"},
    {"an unknown layout", "\"layout\":\"tn\"", "\"layout\":\"xy\"", "unknown word 'xy'"},
    {"an unknown dtype", "\"dtype\":\"f16\"", "\"dtype\":\"f8\"", "unknown word 'f8'"},
    {"an unknown argument", "\"M\",\"N\",\"K\",\"ws\"]", "\"M\",\"Q\",\"K\",\"ws\"]",
     "unknown kernel argument 'Q'"},
    {"an argument given twice", "\"M\",\"N\",\"K\",\"ws\"]", "\"M\",\"M\",\"K\",\"ws\"]",
     "'M' is given twice"},
    {"no arguments", "[\"tmap_a\",\"tmap_b\",\"C\",\"M\",\"N\",\"K\",\"ws\"]", "[]",
     "'args' has too few"},
    {"a tensor that is no argument", "[\"tmap_a\",", "[", "'tmap_a' is no kernel argument"},
    {"an argument that is no tensor", "[\"tmap_a\",", "[\"tmap_a\",\"tmap_x\",",
     "argument 'tmap_x'"},
    {"a tensor's strange name", "\"name\":\"tmap_a\"", "\"name\":\"a\"", "not named tmap_"},
    {"two tensors of one name", "\"name\":\"tmap_b\"", "\"name\":\"tmap_a\"",
     "'tmap_a' is given twice"},
    {"dims of another layout", "[\"K\",\"N\"]", "[\"N\",\"K\"]", "B of layout tn has dims K,N"},
    {"another operand's stride", "\"stride\":\"ldb\"", "\"stride\":\"lda\"", "stride ldb"},
    {"three dims", "[\"K\",\"N\"]", "[\"K\",\"N\",\"M\"]", "'dims' has too many"},
    {"one box side", "\"box\":[64,256]", "\"box\":[64]", "'box' has too few"},
    {"a box side of 257", "\"box\":[64,256]", "\"box\":[64,257]", "257 is not within 1 to 256"},
    {"a box of 20 bytes", "\"box\":[64,256]", "\"box\":[10,256]", "not a multiple of 16"},
    {"a box wider than its swizzle", "\"box\":[64,256]", "\"box\":[72,256]", "exceeds the swizzle"},
    {"a swizzle of 96", "\"swizzle\":128", "\"swizzle\":96", "no such swizzle mode: 96"},
    {"an l2 of 100", "\"l2\":256", "\"l2\":100", "no such l2 mode: 100"},
    {"an unknown grid rule", "persistent", "everything", "unknown word 'everything'"},
    {"a tile of 0", "[128,256]", "[0,256]", "'tile': 0 is not within"},
    {"a block of 33 threads", "\"block\":384", "\"block\":33", "not a multiple of 32"},
    {"a block of 2048 threads", "\"block\":384", "\"block\":2048", "2048 is not within"},
    {"a cluster of 0", "\"cluster\":2", "\"cluster\":0", "0 is not within 1 to 16"},
    {"ws without bytes", "\"bytes\":4096", "\"bytes\":0", "without workspace bytes"},
    {"bytes without ws", "\"K\",\"ws\"]", "\"K\"]", "without a kernel argument 'ws'"},
    {"an alignment of 24", "\"align\":16", "\"align\":24", "not a power of two"},
    {"a divisor of 0", "\"m\":8", "\"m\":0", "0 is not within"},
    {"a baked K that is not legal", "\"K\":4096", "\"K\":4097", "bakes K=4097"},
    {"text after the end", "true}}", "true}}x", "expected the end"},
    {"a comma too many", "true}}", "true,}}", "a field name"},
    {"a missing comma", "384,", "384 ", "expected ',' and field 'cluster'"},
    {"a missing colon", "\"block\":384", "\"block\" 384", "expected ':'"},
    {"an array for the whole", "{\"loom\"", "[\"loom\"", "expected '{'"},
};

static void refuses_what_is_not_version_1(void) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const char *line = edited(refusals[i].from, refusals[i].to);
    const char *why = parse(line, strlen(line));
    ok(why && strstr(why, refusals[i].text), "%s is refused (%s)", refusals[i].name,
       why ? why : "was taken");
  }
  const char *why = parse("", 0);
  ok(why && strstr(why, "ends at byte 1"), "an empty text is refused (%s)",
     why ? why : "was taken");
  const char *line =
      edited("\"dtype\":\"f16\",\"acc\":\"f32\"", "\"dtype\":\"bf16\",\"acc\":\"f16\"");
  why = parse(line, strlen(line));
  ok(why && strstr(why, "bf16 with f16"), "bf16 with f16 accumulation is refused");
}

static void refuses_long_texts(void) {
  char key[2 * LOOM_MAX_KEY], line[4096];
  memset(key, 'k', sizeof key);
  key[LOOM_MAX_KEY - 1] = 0;
  snprintf(line, sizeof line, "%s", edited("hopper:layout=tn,dtype=f16,acc=f32", key));
  ok(!parse(line, strlen(line)), "a key of %d characters fits", LOOM_MAX_KEY - 1);
  key[LOOM_MAX_KEY - 1] = 'k';
  key[LOOM_MAX_KEY] = 0;
  snprintf(line, sizeof line, "%s", edited("hopper:layout=tn,dtype=f16,acc=f32", key));
  const char *why = parse(line, strlen(line));
  ok(why && strstr(why, "a shorter text"), "a longer key is refused (%s)", why ? why : "was taken");
}

static void refuses_every_cut(const char *text, const char *name) {
  size_t n = strlen(text), taken = 0, silent = 0;
  if (text[n - 1] == '\n') n--;
  for (size_t i = 0; i < n; i++) {
    const char *why = parse(text, i);
    taken += !why;
    silent += why && !why[0];
  }
  ok(taken == 0 && silent == 0, "%s is refused with a text when cut at any of its %zu bytes", name,
     n);
}

/* A flipped byte may leave a good line (another letter in the key); it must not
** leave fields that the checks promise never to pass on. */
static bool sane(void) {
  bool good_args = d.nargs >= 1 && d.nargs <= LOOM_MAX_ARGS && d.ntensors <= LOOM_MAX_TENSORS;
  for (int i = 0; good_args && i < d.nargs; i++)
    good_args =
        d.arg[i] >= 0 && d.arg[i] <= LOOM_ARG_TENSOR &&
        (d.arg[i] != LOOM_ARG_TENSOR || (d.arg_tensor[i] >= 0 && d.arg_tensor[i] < d.ntensors));
  return good_args && d.version == 1 && d.block >= 32 && d.block % 32 == 0 && d.tile[0] > 0 &&
         d.tile[1] > 0 && d.split_k > 0 && d.legal_align > 0 && d.legal_ld > 0;
}

static void survives_flips(const char *text, const char *name) {
  static const unsigned char masks[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};
  size_t n = strlen(text), taken = 0, bad = 0;
  char *copy = malloc(n + 1);
  if (!copy) abort();
  for (size_t i = 0; i < n; i++)
    for (size_t m = 0; m < sizeof masks; m++) {
      memcpy(copy, text, n + 1);
      copy[i] = (char)((unsigned char)copy[i] ^ masks[m]);
      const char *why = parse(copy, n);
      taken += !why;
      bad += why ? !why[0] : !sane();
    }
  free(copy);
  ok(bad == 0, "%s survives %zu flipped bytes (%zu of them leave a good line)", name,
     n * sizeof masks, taken);
}

int main(void) {
  reads_every_field();
  refuses_what_is_not_version_1();
  refuses_long_texts();
  refuses_every_cut(good, "the first line");
  refuses_every_cut(plain, "the second line");
  survives_flips(good, "the first line");
  survives_flips(plain, "the second line");
  return done();
}
