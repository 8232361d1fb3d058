-- The comparison of conformance vectors: what is missing, cut off or different is found. Needs cc.

local sh = require "tests_sh"

local CASES = host.root .. "/tests/conformance"

-- Prints a file of vectors in which every case left its output as it was.
local PRINT = [[
#include "vectors.h"
#include <stdlib.h>
int main(void) {
  printf("conformance 1\ngpu planted\n");
  for (int i = 0; i < conform_count; i++) {
    const struct conform_case *c = &conform_cases[i];
    uint32_t *words = malloc(4 * (size_t)(c->out > c->in ? c->out : c->in));
    conform_fill_in(c, words);
    conform_fill_out(c, words);
    conform_print(stdout, c, words, 0);
    free(words);
  }
  printf("end %d cases\n", conform_count);
  return 0;
}
]]

local function compile(out, ...)
  local run = sh.run { "cc", "-std=c11", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall",
                       "-Wextra", "-Werror", "-I" .. CASES, "-o", out, ... }
  assert(run.code == 0, run.output)
end

local function comparison()
  local tmp = sh.tmpdir("conformance")
  assert(host.write(tmp .. "/print.c", PRINT) ~= nil)
  compile(tmp .. "/print", tmp .. "/print.c", CASES .. "/vectors.c")
  compile(tmp .. "/compare", CASES .. "/compare.c", CASES .. "/vectors.c")
  local whole = sh.run { "sh", "-c", '"$0" > "$1"', tmp .. "/print", tmp .. "/whole" }
  assert(whole.code == 0, whole.output)
  local text = assert(host.read(tmp .. "/whole"))

  -- The exit status and what is said of `changed` beside the whole file, either way round.
  local function compare(changed, code, said)
    assert(changed ~= text or code == 0, "nothing was changed")
    host.write(tmp .. "/changed", changed)
    for _, pair in ipairs { { "/whole", "/changed" }, { "/changed", "/whole" } } do
      local run = sh.run { tmp .. "/compare", tmp .. pair[1], tmp .. pair[2] }
      assert(run.code == code and run.output:find(said, 1, true),
             string.format("wanted %d and '%s', got %d and %s", code, said, run.code, run.output))
    end
  end

  local cases = select(2, text:gsub("\ncase ", "\ncase "))
  compare(text, 0, string.format("primitives equal (%d of %d cases)", cases, cases))
  compare(text:gsub("(case mma__m16n8k16_f16 .-\n)%x%x", "%1" .. "77"), 1, "mma__m16n8k16_f16: word 0: want ")
  compare(text:gsub("(case wgmma__n256 %d+ )%x%x", "%1" .. "77"), 1, "is not")
  compare(text:gsub("case ldmatrix__x1 .-(case )", "%1"), 2, "case ldmatrix__x1 is missing")
  compare(text:gsub("\ncase ldmatrix__x1 ", "\ncase ldmatrix__x9 "), 2, "case ldmatrix__x1 is missing")
  compare(text:gsub("(case elect_one__lane [^\n]*\n)[^\n]*\n", "%1"), 2, "too few words")
  compare(text:gsub("end %d+ cases\n", ""), 2, "does not end")
  compare(text:sub(1, #text // 2), 2, "conformance: ")
  compare(text:gsub("\ncase wgmma__n64 .*$", "\n"), 2, "case wgmma__n64 is missing")
  compare("", 2, "no file of vectors")
  compare((text:gsub("end ", "case more 1 0\n00000000\nend ")), 2, "does not end")
  host.write(tmp .. "/changed", (text:gsub("gpu planted", "gpu none")))
  local run = sh.run { tmp .. "/compare", tmp .. "/changed", tmp .. "/whole" }
  assert(run.code == 2 and run.output:find("no GPU made it", 1, true), run.output)
  sh.remove(tmp)
end

return { { name = "vectors that differ, lack a case or have one too many are found", run = comparison } }
