// run.cpp -- see run.h.
#include "run.h"

#include "verify.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>

namespace cpu {

volatile bool run_active;
char run_name[64];

// ---- what to run ---------------------------------------------------------------------------------

static bool takes(const loom_desc &d, int arg) {
  return std::find(d.arg, d.arg + d.nargs, arg) != d.arg + d.nargs;
}

// Kernels that take factors get some where the sums are small integers: eighths, whose products have
// more digits than the result, so that a second rounding shows. The others run with beta = 0 and a C of
// NaNs, which must not be read.
static Factors factors_of(const Job &job, const loom_desc &d, Family f) {
  Factors x;
  const bool small = f == Family::TERNARY || f == Family::CANCEL || f == Family::SLICE;
  if (small && takes(d, LOOM_ARG_ALPHA)) x.alpha = 13.625f;
  if (small && takes(d, LOOM_ARG_BETA)) x.beta = 0.375f;
  if (job.has_alpha) x.alpha = job.alpha;
  if (job.has_beta) x.beta = job.beta;
  return x;
}

static int64_t row_length(const Job &job, const loom_desc &d, int operand) {
  int dims[2];
  loom_stored_dims(d.layout, operand, dims);
  return job.mnk[dims[0]];
}

// Is the kernel told this operand's leading dimension? Else its rows are packed.
static bool told_lead(const loom_desc &d, int operand) {
  for (int t = 0; t < d.ntensors; t++)
    if (d.tensors[t].operand == operand) return true;
  return takes(d, LOOM_ARG_LDA + operand);
}

// Odd runs lie as awkwardly as the descriptor allows: little alignment, rows apart.
static Placing placing_of(const Job &job, const loom_desc &d, int run) {
  Placing at;
  std::copy(job.ld, job.ld + 3, at.ld);
  for (int i = 0; i < 3 && run % 2 == 1; i++)
    if (at.ld[i] == 0 && told_lead(d, i))
      at.ld[i] = row_length(job, d, i) + std::lcm(d.legal_ld, d.ntensors > 0 ? 8 : 1);
  at.pdl = d.pdl && job.pdl != 0;
  const int64_t least = d.ntensors > 0 ? std::max<int64_t>(d.legal_align, 16) : d.legal_align;
  if (job.shift >= 0)
    at.shift = 2 * job.shift;
  else if (run % 2 == 1 && least < 1024)
    at.shift = least;
  return at;
}

static Problem &problem_of(const Job &job, const loom_desc &d, Family f,
                           std::vector<Problem> &made) {
  for (Problem &p : made)
    if (p.family == f) return p;
  Problem p;
  p.family = f;
  p.dtype = d.dtype;
  p.narrow = d.acc == LOOM_ACC_F16;
  p.M = job.mnk[0];
  p.N = job.mnk[1];
  p.K = job.mnk[2];
  p.factors = factors_of(job, d, f);
  problem_make(p, job.seed);
  made.push_back(std::move(p));
  return made.back();
}

// ---- one run -------------------------------------------------------------------------------------

static void launch_and_verify(Binding &b, const Problem &p, const Kernel &k) {
  site_last = 0;
  run_active = true;
  b.launch();
  run_active = false;
  if (findings().empty()) verify(b, p, k.desc);
}

static Counters sum_of_counters() {
  Counters sum;
  for (Site s : sites_sorted()) {
    const Counters &c = site_info(s).count;
    sum.wavefronts += c.wavefronts;
    sum.wavefronts_ideal += c.wavefronts_ideal;
    sum.sectors += c.sectors;
    sum.sectors_ideal += c.sectors_ideal;
    sum.bytes += c.bytes;
    sum.waits += c.waits;
    sum.flops += c.flops;
  }
  return sum;
}

// A kernel with a workspace runs twice on it: the second launch finds what the first has left.
static std::string run_once(const Kernel &k, const Problem &p, const Placing &at, const Schedule &s,
                            Outcome &out, std::string *counters) {
  Binding b;
  const std::string why = b.bind(k, p, at, s);
  if (!why.empty()) return why;
  sites_clear_counters();
  launch_and_verify(b, p, k);
  if (counters) {
    out.total = sum_of_counters();
    *counters = counters_text();
  }
  if (!findings().empty() || k.desc.ws_bytes == 0) return "";
  b.refill();
  out.run += " (second launch)";
  launch_and_verify(b, p, k);
  return "";
}

// ---- a job ---------------------------------------------------------------------------------------

static bool write_file(const std::string &path, const std::string &text) {
  if (path.empty()) return true;
  std::ofstream f(path, std::ios::binary);
  f << text;
  f.close();
  return !f.fail();
}

static std::string heading(const Job &job, const Kernel &k, const Outcome &out, const Schedule &s) {
  return format("%s\nM=%lld N=%lld K=%lld, %s: %s\n", k.desc.key,
                static_cast<long long>(job.mnk[0]), static_cast<long long>(job.mnk[1]),
                static_cast<long long>(job.mnk[2]), out.run.c_str(), schedule_text(s).c_str());
}

static void run_all(const Job &job, const Kernel &k, Outcome &out, std::string *report,
                    std::string *counters) {
  std::vector<Problem> made;
  made.reserve(static_cast<size_t>(Family::COUNT));
  const size_t runs = std::max(job.schedules.size(), job.families.size());
  const auto zero = std::find(job.schedules.begin(), job.schedules.end(), 0);
  const size_t counted =
      zero == job.schedules.end() ? 0 : static_cast<size_t>(zero - job.schedules.begin());
  for (size_t i = 0; i < runs && out.status == Outcome::CLEAN; i++) {
    const Schedule s = schedule_of(job.schedules[i % job.schedules.size()], job.seed);
    const Problem &p = problem_of(job, k.desc, job.families[i % job.families.size()], made);
    out.run = format("%d/%s", s.number, family_name(p.family));
    snprintf(run_name, sizeof run_name, "%s", out.run.c_str());
    out.why = run_once(k, p, placing_of(job, k.desc, static_cast<int>(i)), s, out,
                       i == counted ? counters : nullptr);
    out.runs++;
    if (!out.why.empty())
      out.status = Outcome::REFUSED;
    else if (!findings().empty())
      out.status = Outcome::WRONG;
    *report = heading(job, k, out, s) + findings_text();
  }
}

static void run_kernel(const Job &job, const Kernel &k, Outcome &out) {
  const auto begin = std::chrono::steady_clock::now();
  std::string report, counters;
  kernel_check(k);
  if (!findings().empty()) {
    out.status = Outcome::WRONG;
    report = std::string(k.desc.key) + "\n" + findings_text();
  } else {
    run_all(job, k, out, &report, &counters);
  }
  out.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  for (const auto &[path, text] :
       {std::pair(&job.report, &report), std::pair(&job.counters, &counters)})
    if (!write_file(*path, *text)) {
      out.status = Outcome::FAILED;
      out.why = "cannot write '" + *path + "'";
    }
}

Outcome run_job(const Job &job) {
  Outcome out;
  Kernel k;
  findings_clear();
  sites_reset();
  out.why = kernel_open(job.so, job.desc, &k);
  if (out.why.empty())
    run_kernel(job, k, out);
  else
    out.status = Outcome::FAILED;
  kernel_close(&k);
  return out;
}

std::string counters_text() {
  std::string s = "op\tfile\tline\tvisits\twavefronts\twavefronts_ideal\tsectors\tsectors_"
                  "ideal\tbytes\twaits\n";
  const auto number = [](uint64_t v) { return std::to_string(v); };
  for (Site site : sites_sorted()) {
    const SiteInfo &i = site_info(site);
    const Counters &c = i.count;
    if (!(c.visits | c.wavefronts | c.sectors | c.bytes | c.waits | c.flops)) continue;
    s += std::string(i.op) + "\t" + i.file + "\t" + std::to_string(i.line);
    for (uint64_t v :
         {c.visits, c.wavefronts, c.wavefronts_ideal, c.sectors, c.sectors_ideal, c.bytes, c.waits})
      s += "\t" + number(v);
    s += "\n";
  }
  return s;
}

} // namespace cpu
