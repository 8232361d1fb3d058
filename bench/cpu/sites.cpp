// sites.cpp -- see sites.h.
#include "sites.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_map>

namespace cpu {

namespace {

struct Key {
  const char *op, *file;
  int line;
  bool operator==(const Key &k) const { return op == k.op && file == k.file && line == k.line; }
};
struct KeyHash {
  size_t operator()(const Key &k) const {
    return reinterpret_cast<size_t>(k.op) * 31 ^ reinterpret_cast<size_t>(k.file) ^
           static_cast<size_t>(k.line) * 0x9e3779b97f4a7c15u;
  }
};

std::unordered_map<Key, Site, KeyHash> numbers;
std::vector<SiteInfo> infos(1); // 0 is none
struct {
  Key key;
  Site site;
} recent[512]; // by line: a kernel's instructions mostly do not meet here

} // namespace

static std::string base_name(const char *file) {
  const char *slash = strrchr(file, '/');
  return slash ? slash + 1 : file;
}

// Two texts of one name may lie at different addresses: kernels come and go with their files.
static Site number_of(const char *op, const std::string &file, int line) {
  for (size_t i = 1; i < infos.size(); i++)
    if (infos[i].line == line && infos[i].file == file && strcmp(infos[i].op, op) == 0)
      return static_cast<Site>(i);
  if (infos.size() > UINT16_MAX) return 0;
  infos.push_back({op, file, line, {}});
  return static_cast<Site>(infos.size() - 1);
}

volatile Site site_last;
volatile uint64_t site_calls;

Site site_of(const char *op, loom_engine::site at) {
  const Key key = {op, at.file, at.line};
  auto &r = recent[static_cast<unsigned>(at.line) % 512];
  site_calls = site_calls + 1;
  if (!r.site || !(r.key == key)) {
    const auto [it, fresh] = numbers.try_emplace(key, Site{0});
    if (fresh) it->second = number_of(op, base_name(at.file), at.line);
    r.key = key;
    r.site = it->second;
  }
  return site_last = r.site;
}

SiteInfo &site_info(Site site) { return infos[site]; }

std::string site_place(Site site) {
  return site ? infos[site].file + ":" + std::to_string(infos[site].line) : "";
}

std::string site_text(Site site) {
  return site ? infos[site].op + (" at " + site_place(site)) : "(none)";
}

void sites_reset() {
  numbers.clear();
  infos.resize(1);
  for (auto &r : recent) r = {};
  site_last = 0;
}

std::vector<Site> sites_sorted() {
  std::vector<Site> all;
  for (size_t i = 1; i < infos.size(); i++) all.push_back(static_cast<Site>(i));
  std::sort(all.begin(), all.end(), [](Site a, Site b) {
    const SiteInfo &x = infos[a], &y = infos[b];
    return std::tie(x.file, x.line) != std::tie(y.file, y.line)
               ? std::tie(x.file, x.line) < std::tie(y.file, y.line)
               : strcmp(x.op, y.op) < 0;
  });
  return all;
}

void sites_clear_counters() {
  for (SiteInfo &i : infos) i.count = {};
}

} // namespace cpu
