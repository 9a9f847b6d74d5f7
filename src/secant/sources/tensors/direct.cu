// The extremes of the path, found on the device from end to end; compiled after cells.cu. Of not too
// many rows all are sorted (pack, walk, finish). Else: a table of cells from a sample (plan), sums in
// them (cells), which of them could hold an extreme (choose). While these hold too many rows, their
// insides are counted finely (narrow), which tells how far the path can stray in them (limits); then
// their rows are taken (collect), sorted, and walked along (within).

#define SAMPLE 16384
#define NO_SCORE (~(Bits)0)
#if DOUBLE
typedef long long Signed;
#else
typedef int Signed;
#endif
#define CLOSED (~0u)
#define GUARD 1e-12
#define MOST_PIECES (DOUBLE ? 14u : 31u - LOW)  // of a cell, as a power of two: products stay in a word

// A stretch of the path: how far it goes, its highest and its lowest point.
struct Way { double gain, top, bottom; };
#define FAR __longlong_as_double(0x7ff0000000000000ll)
#define NO_WAY {0, -FAR, FAR}

__device__ __forceinline__ void go(Way& a, const Way& b) {
  a.top = fmax(a.top, a.gain + b.top);
  a.bottom = fmin(a.bottom, a.gain + b.bottom);
  a.gain += b.gain;
}

// What a row adds to the path, and the bits of its score.
__device__ __forceinline__ double gain_of(const Key* keys, const double* weights, long long i, Bits* bits) {
#if PACKED
  u64 packed = keys[i];
  Bits key = (u32)(packed >> 32);
  double w = (double)__uint_as_float((u32)packed);
#else
  Bits key = keys[i];
#endif
#if APART
  double w = weights[i];
#elif !PACKED
  const double w = 1;
#endif
  *bits = key >> 1;
  double x = (double)SCORE(key >> 1);
  return key & 1 ? w * (1 - x) : -w * x;
}

__device__ __forceinline__ Bits bits_of(const Key* keys, long long i) {
#if PACKED
  return (u32)(keys[i] >> 33);
#else
  return keys[i] >> 1;
#endif
}

// Along sorted rows from..to, of which the ends of ties count; the tie at the end ends at `to`.
__device__ __forceinline__ Way walked(const Key* keys, const double* weights, long long from, long long to, long long end) {
  Way way = NO_WAY;
  if (from >= to) return way;
  Bits here, next;
  double gain = gain_of(keys, weights, from, &here);
  for (long long i = from; i < to; i++) {
    way.gain += gain;
    bool last = i + 1 >= end;
    if (i + 1 < to) gain = gain_of(keys, weights, i + 1, &next);
    else if (!last) next = bits_of(keys, i + 1);
    if (last || next != here) { way.top = fmax(way.top, way.gain); way.bottom = fmin(way.bottom, way.gain); }
    here = next;
  }
  return way;
}

// The ways of all threads, one after the other, in the first.
__device__ __forceinline__ Way joined(Way way, Way* shared) {
  __syncthreads();
  shared[threadIdx.x] = way;
  __syncthreads();
  for (u32 step = 1; step < blockDim.x; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) go(shared[threadIdx.x], shared[threadIdx.x + step]);
    __syncthreads();
  }
  return shared[0];
}

// Sums over the threads before this one, in a fixed order; the sum over all.
template <typename T> __device__ __forceinline__ T before_me(T value, T* shared, T* total) {
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  for (u32 d = 1; d < blockDim.x; d *= 2) {
    T more = threadIdx.x >= d ? shared[threadIdx.x - d] : (T)0;
    __syncthreads();
    shared[threadIdx.x] += more;
    __syncthreads();
  }
  *total = shared[blockDim.x - 1];
  return threadIdx.x ? shared[threadIdx.x - 1] : (T)0;
}

template <typename T> __device__ __forceinline__ T over_all(T value, T* shared) {
  T total;
  before_me(value, shared, &total);
  return total;
}

// Rows into keys that sort as their scores do; checks, and per block of threads the sums of w^2 v and w.
extern "C" __global__ void __launch_bounds__(512) pack(
    COLUMNS_OF_ROWS, Key* __restrict__ keys, double* __restrict__ reals, u64* __restrict__ extra)
{
  const Rows rows = ROWS;
  __shared__ double shared[512];
  double v = 0, sw = 0;
  u32 faults = 0;
  all_rows<0>(rows, [&](const Four& four, long long first, int many) {
    Key key[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) if (k < many) {
      Bits u = BITS(four.s[k]);
      if (u == NEGATIVE_ZERO) u = 0;
      if (u > ONE) { faults |= BAD_VALUE; u = 0; }
      double x = u < TINY ? tiniest(u) : (double)SCORE(u);
      key[k] = u << 1 | (four.labels >> (8 * k) & 1u);
#ifdef WEIGHT
      double weight = (double)four.w[k];
      if (!(weight >= 0 && weight <= 1e100) || (weight > 0 && weight < 1e-100)) faults |= BAD_VALUE;
      v += weight * weight * __fma_rn(-x, x, x);
      sw += weight;
#else
      v += __fma_rn(-x, x, x);
#endif
#if PACKED
      key[k] = key[k] << 32 | __float_as_uint(four.w[k]);
#endif
    }
    if (four.labels & 0xfefefefeu) faults |= BAD_VALUE;
    if (many == 1) { keys[first] = key[0]; return; }
#if DOUBLE || PACKED
    ((ulonglong2*)keys)[first / 2] = make_ulonglong2(key[0], key[1]);
    ((ulonglong2*)keys)[first / 2 + 1] = make_ulonglong2(key[2], key[3]);
#else
    ((uint4*)keys)[first / 4] = make_uint4(key[0], key[1], key[2], key[3]);
#endif
  });
  block_sum(v, shared, reals + REALS * blockIdx.x);
  block_sum(sw, shared, reals + REALS * blockIdx.x + 3);
  if (faults) atomicOr(&extra[3], (u64)faults);
}

#define TILE 4096  // rows of a block of 256 threads
extern "C" __global__ void __launch_bounds__(256) walk(
    const Key* __restrict__ keys, const double* __restrict__ weights, long long n, Way* __restrict__ ways)
{
  __shared__ Way shared[256];
  const long long from = min((long long)blockIdx.x * TILE + threadIdx.x * (TILE / 256), n);
  Way way = joined(walked(keys, weights, from, min(from + TILE / 256, n), n), shared);
  if (threadIdx.x == 0) ways[blockIdx.x] = way;
}

extern "C" __global__ void __launch_bounds__(1024) finish(
    const Way* __restrict__ ways, long long n_ways, const double* __restrict__ reals, u32 blocks,
    const u64* __restrict__ extra, long long n, Head* __restrict__ head)
{
  __shared__ Way shared[1024];
  const long long each = (n_ways + 1023) / 1024, from = min(each * threadIdx.x, n_ways);
  Way way = NO_WAY;
  for (long long i = from; i < min(from + each, n_ways); i++) go(way, ways[i]);
  way = joined(way, shared);
  double v = 0, w = 0;
  for (u32 b = threadIdx.x; b < blocks; b += 1024) { v += reals[REALS * b]; w += reals[REALS * b + 3]; }
  v = over_all(v, (double*)shared);
  w = over_all(w, (double*)shared);
  if (threadIdx.x == 0) {
    head->faults = extra[3];
    head->variance = v;
#ifdef WEIGHT
    head->weight = w;
#else
    head->weight = (double)n;
#endif
    head->top = fmax(way.top, 0.0);
    head->bottom = fmin(way.bottom, 0.0);
  }
}

// Cells that hold about equal shares by a sample, of each a score that came up more than once, and
// the score that came up most.
extern "C" __global__ void __launch_bounds__(1024) plan(
    COLUMNS_OF_ROWS, u32 most, u32* __restrict__ table, Bits* common, float* __restrict__ tied, Head* __restrict__ head)
{
  const Rows rows = ROWS;
  extern __shared__ __align__(16) u32 memory[];
  __shared__ double scratch[1024];
  __shared__ u32 commonest;
  u32* times = memory;
  u32* spread = times + BINS;
  u32* tab = spread + BINS;
  u32* first = tab + BINS;
  u32* seen = first + most;
  u32* equal = seen + most;
  for (u32 i = threadIdx.x; i < BINS; i += 1024) times[i] = spread[i] = 0;
  for (u32 i = threadIdx.x; i < most; i += 1024) { first[i] = ~0u; seen[i] = equal[i] = 0; common[i] = NO_SCORE; tied[i] = 0; }
  if (threadIdx.x == 0) commonest = 0;
  __syncthreads();
  const long long n = rows.n;
  Bits mine[SAMPLE / 1024];
  double heaviest = 0;
  #pragma unroll
  for (int e = 0; e < SAMPLE / 1024; e++) {
    u32 i = e * 1024 + threadIdx.x;
    double jitter = (i * 2654435761u >> 8) * 0x1p-24;
    long long at = min((long long)((i + jitter) * ((double)n / SAMPLE)), n - 1);
    Bits u = BITS(rows.scores[at]);
    if (u == NEGATIVE_ZERO) u = 0;
    mine[e] = u > ONE ? NO_SCORE : u;
#ifdef WEIGHT
    heaviest = fmax(heaviest, (double)rows.weights[at]);
#endif
  }
  #pragma unroll
  for (int e = 0; e < SAMPLE / 1024; e++) if (mine[e] != NO_SCORE) {
    int bin = max(bin_of(order(mine[e])), 0);
    float x = (float)SCORE(mine[e]);
    atomicAdd(&times[bin], 1u);
    atomicAdd(&spread[bin], (u32)(x * (1 - x) * 0x1p18f));
  }
  __syncthreads();
  const u32 each = (BINS + 1023) / 1024, from = min(each * threadIdx.x, (u32)BINS), to = min(from + each, (u32)BINS);
  double sampled = 0, varied = 0;
  for (u32 b = from; b < to; b++) { sampled += times[b]; varied += spread[b]; }
  sampled = fmax(over_all(sampled, scratch), 1.0);
  varied = fmax(over_all(varied, scratch), 1.0);
  // A bin is cut into a power of two, mostly fewer than its share would be.
  auto finer = [&](u32 b, double target) -> u32 {
    double wanted = (0.75 * times[b] / sampled + 0.25 * spread[b] / varied) * target;
    if (b == 0 || b == BINS - 1 || wanted < 2) return 0;
    return min((u32)ilogb(wanted), (u32)LOW);
  };
  const double factors[5] = {1.4, 1.2, 1.0, 0.85, 0};
  u32 start = 0, cells = 0;
  double target = 0;
  for (int trial = 0; trial < 5; trial++) {
    target = factors[trial] ? most * factors[trial] : fmax((double)most - BINS, 0.0);
    u32 sum = 0;
    for (u32 b = from; b < to; b++) sum += 1u << finer(b, target);
    start = before_me(sum, (u32*)scratch, &cells);
    if (cells <= most) break;
  }
  for (u32 b = from; b < to; b++) {
    u32 k = finer(b, target), width = b == 0 || b == BINS - 1 ? 0 : LOW - k;
    table[b] = tab[b] = start << 6 | width;
    start += 1u << k;
  }
  __syncthreads();
  u32 cell[SAMPLE / 1024];
  #pragma unroll
  for (int e = 0; e < SAMPLE / 1024; e++) if (mine[e] != NO_SCORE) {
    cell[e] = cell_of(order(mine[e]), tab);
    atomicMin(&first[cell[e]], e * 1024 + threadIdx.x);
    atomicAdd(&seen[cell[e]], 1u);
  }
  __syncthreads();
  #pragma unroll
  for (int e = 0; e < SAMPLE / 1024; e++)
    if (mine[e] != NO_SCORE && first[cell[e]] == e * 1024 + threadIdx.x) common[cell[e]] = mine[e];
  __syncthreads();
  #pragma unroll
  for (int e = 0; e < SAMPLE / 1024; e++)
    if (mine[e] != NO_SCORE && common[cell[e]] == mine[e]) atomicAdd(&equal[cell[e]], 1u);
  __syncthreads();
  for (u32 i = threadIdx.x; i < cells; i += 1024) {
    atomicMax(&commonest, equal[i] << 16 | i);
    if (equal[i] > 1) tied[i] = (float)equal[i] / seen[i];
  }
  __syncthreads();
  Bits hot = common[commonest & 0xffffu];
  __syncthreads();
  for (u32 i = threadIdx.x; i < cells; i += 1024) if (equal[i] < 2) common[i] = NO_SCORE;
  scratch[threadIdx.x] = heaviest;
  __syncthreads();
  for (u32 half = 512; half; half >>= 1) {
    if (threadIdx.x < half) scratch[threadIdx.x] = fmax(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    head->cells = cells;
    head->hot = (commonest >> 16) > SAMPLE / 200 ? hot : NO_SCORE;
    // A sample may have missed what weighs more.
    head->scale = scratch[0] > 0 && scratch[0] <= 1e100 ? ldexp(1.0, ilogb(scratch[0]) + 11) : 1.0;
  }
}

__device__ __forceinline__ double wide(const u64* words, u32 stride, u32 j) {
  return (double)words[j] + (double)words[stride + j] * 0x1p64;
}

// Marks the cells that could hold an extreme, and says how finely to count inside each.
extern "C" __global__ void __launch_bounds__(1024) choose(
    long long n, u32 again, u32 blocks, u32 most, u32 budget, const u32* __restrict__ table,
    u64* __restrict__ counts, const u64* __restrict__ rests, const u64* __restrict__ loads,
    const double* __restrict__ reals, const u64* __restrict__ extra,
    Bits* __restrict__ common, const float* __restrict__ tied, Head* __restrict__ head,
    double* before, double* rise, double* fall, u32* __restrict__ marks, u32* __restrict__ finer)
{
  extern __shared__ __align__(16) u32 memory[];
  __shared__ double scratch[1024];
  u32* tab = memory;
  const u32 cells = (u32)head->cells, each = (cells + 1023) / 1024;
  const u32 from = min(each * threadIdx.x, cells), to = min(from + each, cells);
  for (u32 i = threadIdx.x; i < BINS; i += 1024) tab[i] = table[i];
  for (u32 i = threadIdx.x; i < (most + 31) / 32; i += 1024) marks[i] = 0;
  __syncthreads();
  if (!again) {
    double v = 0, w = 0, tiny0 = 0, tiny1 = 0;
    for (u32 b = threadIdx.x; b < blocks; b += 1024) {
      const double* real = reals + REALS * b;
      v += real[0]; tiny0 += real[1]; tiny1 += real[2];
#ifdef WEIGHT
      w += real[3];
#endif
    }
    v = over_all(v, scratch);
    tiny0 = over_all(tiny0, scratch);
    tiny1 = over_all(tiny1, scratch);
    w = over_all(w, scratch);
    u32 hot_cell = ~0u;
    double hot_rest = 0;
#ifdef WEIGHT
    const double unit = 0x1p-62 * head->scale;
#else
    const Bits hot = (Bits)head->hot;
    w = (double)n;
    if (hot != NO_SCORE) {
      hot_cell = cell_of(order(hot), tab);
      Place at = place_of(hot_cell, tab);
      double x = (double)SCORE(hot);
      hot_rest = (double)(order(hot) & (((Bits)1 << at.width) - 1));
      v += (double)(extra[0] + extra[1]) * (x * (1 - x));
      if (hot_cell == 0) { tiny0 += extra[0] * x; tiny1 += extra[1] * x; }
    }
#endif
    for (u32 c = threadIdx.x; c < cells; c += 1024) {
      Place at = place_of(c, tab);
      double distance, base = score_of(at.number, &distance);
      double rest0 = wide(rests, 2 * most, 2 * c), rest1 = wide(rests, 2 * most, 2 * c + 1);
      if (c == hot_cell) {
        counts[2 * c] += extra[0]; counts[2 * c + 1] += extra[1];
        rest0 += extra[0] * hot_rest; rest1 += extra[1] * hot_rest;
      }
#ifdef WEIGHT
      double w0 = wide(loads, 2 * most, 2 * c) * unit, w1 = wide(loads, 2 * most, 2 * c + 1) * unit;
      at.unit *= unit * ldexp(1.0, at.width + 16);
#else
      double w0 = (double)counts[2 * c], w1 = (double)counts[2 * c + 1];
#endif
      double down = at.number >= HALF ? w0 - (w0 * distance - rest0 * at.unit) : w0 * base + rest0 * at.unit;
      double up = fmax(w1 * distance - rest1 * at.unit, 0.0);
      if (c == 0) { down = tiny0; up = fmax(w1 - tiny1, 0.0); }
      rise[c] = up;
      fall[c] = down;
    }
    __syncthreads();
    double gain = 0;
    for (u32 c = from; c < to; c++) gain += rise[c] - fall[c];
    double all, height = before_me(gain, scratch, &all);
    for (u32 c = from; c < to; c++) { before[c] = height; height += rise[c] - fall[c]; }
    if (threadIdx.x == 0) { before[cells] = all; head->weight = w; head->variance = v; head->faults |= extra[3]; head->highest = -FAR; head->lowest = FAR; }
    __syncthreads();
  }
  double top = 0, bottom = 0;
  for (u32 c = threadIdx.x; c < cells; c += 1024) { top = fmax(top, before[c + 1]); bottom = fmin(bottom, before[c + 1]); }
  scratch[threadIdx.x] = top;
  __syncthreads();
  for (u32 half = 512; half; half >>= 1) {
    if (threadIdx.x < half) scratch[threadIdx.x] = fmax(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  top = scratch[0];
  __syncthreads();
  scratch[threadIdx.x] = bottom;
  __syncthreads();
  for (u32 half = 512; half; half >>= 1) {
    if (threadIdx.x < half) scratch[threadIdx.x] = fmin(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  bottom = scratch[0];
  const double guard = GUARD * head->weight;
  double open = 0, loose = 0, marked = 0;
  for (u32 c = threadIdx.x; c < cells; c += 1024) {
    u64 rows = counts[2 * c] + counts[2 * c + 1];
    u32 t = place_of(c, tab).width;
    bool could = before[c] + rise[c] >= top - guard || before[c] - fall[c] <= bottom + guard;
    could = could && rows > 1 && (t > 0 || c == 0);  // else it is a tie
    finer[c] = 0;
    if (!could) continue;
    atomicOr(&marks[c >> 5], 1u << (c & 31u));
    finer[c] = 1u << min(t, MOST_PIECES);
    marked += 1;
    open += rows;
    loose += rows * (1 - (double)tied[c]);
  }
  open = over_all(open, scratch);
  loose = over_all(loose, scratch);
  marked = over_all(marked, scratch);
  // As many fine cells as there is room for, by rows; no more than there are scores.
  const double per_row = fmax(budget - marked, 0.0) / fmax(open, 1.0);
  u32 sum = 0, total = 0;
  for (u32 c = from; c < to; c++) if (finer[c]) {
    finer[c] = max(min((u32)((double)(counts[2 * c] + counts[2 * c + 1]) * per_row), finer[c]), 1u);
    sum += finer[c];
  }
  u32 start = before_me(sum, (u32*)scratch, &total);
  for (u32 c = from; c < to; c++) if (finer[c]) {
    u32 pieces = finer[c];
    finer[c] = start << 16 | pieces;
    start += pieces;
  }
  if (threadIdx.x == 0) {
    head->top = top; head->bottom = bottom; head->open = (u64)open; head->loose = (u64)ceil(loose); head->taken = 0;
    if (total > budget) head->faults |= TOO_MANY;
  }
}

// Counts rows in fine cells, equal parts of those that are marked: both responses in a word, or weights in
// units of a part of their mean, rounded up.
extern "C" __global__ void __launch_bounds__(1024) narrow(
    COLUMNS_OF_ROWS, u32 budget, const u32* __restrict__ table, const u32* __restrict__ finer,
    const u64* __restrict__ extra, const Head* __restrict__ head, u64* __restrict__ fine)
{
  const Rows rows = ROWS;
  extern __shared__ __align__(16) u32 memory[];
  const u32 cells = (u32)head->cells;
#ifndef WEIGHT
  const Bits hot = (Bits)head->hot;
#endif
  u32* tab = memory;
  u32* sub = tab + BINS;
  u32* held = sub + cells;
#ifdef WEIGHT
  const u32 words = 2 * budget;
  const float to_unit = (float)(0x1p12 * (double)rows.n / head->weight);
#else
  const u32 words = budget;
#endif
  for (u32 i = threadIdx.x; i < BINS; i += 1024) tab[i] = table[i];
  for (u32 i = threadIdx.x; i < cells; i += 1024) sub[i] = finer[i];
  for (u32 i = threadIdx.x; i < words; i += 1024) held[i] = 0;
  __syncthreads();
  auto where = [&](Bits u) -> u32 {
    // As signed numbers, those of negative zero and of what is tiny are below.
    Bits key = (Signed)u < (Signed)TINY ? (Bits)(FIRST - 1) << LOW : order(u);
    u32 t = tab[min((int)(key >> LOW) - (FIRST - 1), BINS - 1)];
    Bits low = key & (((Bits)1 << LOW) - 1);
    u32 f = sub[(t >> 6) + (u32)(low >> (t & 63u))];
    if (!f) return CLOSED;
    return (f >> 16) + (u32)(((low & (((Bits)1 << (t & 63u)) - 1)) * (f & 0xffffu)) >> (t & 63u));
  };
  all_rows<AHEAD>(rows, [&](const Four& four, long long, int many) {
    #pragma unroll
    for (int k = 0; k < 4; k++) if (k < many) {
      Bits u = BITS(four.s[k]);
      u32 q = four.labels >> (8 * k) & 1u;
#ifndef WEIGHT
      if (u == hot || (hot == 0 && u == NEGATIVE_ZERO)) continue;
#endif
      u32 f = where(u);
      if (f == CLOSED) continue;
#ifdef WEIGHT
      u32 add = __float2uint_ru((float)four.w[k] * to_unit);
      if (add) atomicAdd(&held[2 * f + q], add);
#else
      atomicAdd(&held[f], q ? 65536u : 1u);
#endif
    }
  });
  __syncthreads();
#ifdef WEIGHT
  for (u32 i = threadIdx.x; i < words; i += 1024) if (held[i]) atomicAdd(&fine[i], (u64)held[i]);
#else
  for (u32 i = threadIdx.x; i < words; i += 1024) if (held[i]) {
    atomicAdd(&fine[2 * i], (u64)(held[i] & 65535u));
    atomicAdd(&fine[2 * i + 1], (u64)(held[i] >> 16));
  }
  if (hot != NO_SCORE && blockIdx.x == 0 && threadIdx.x == 0) {
    u32 f = where(hot);
    if (f != CLOSED) { atomicAdd(&fine[2 * f], extra[0]); atomicAdd(&fine[2 * f + 1], extra[1]); }
  }
#endif
}

// How far the path can rise and fall inside marked cells, one warp each.
extern "C" __global__ void __launch_bounds__(256) limits(
    long long n, u32 most, const u32* __restrict__ table, const u32* __restrict__ finer, const u64* __restrict__ counts,
    const u64* __restrict__ loads, const u64* __restrict__ fine, Head* __restrict__ head,
    double* __restrict__ rise, double* __restrict__ fall)
{
  const u32 c = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x & 31u;
  if (c >= (u32)head->cells || !finer[c]) return;
  Place at = place_of(c, table);
  const u32 begin = finer[c] >> 16, size = finer[c] & 0xffffu;
  auto place = [&](u32 i) -> Bits { return (Bits)((((u64)i << at.width) + size - 1) / size); };
  const u32 each = (size + 31) / 32, from = min(each * lane, size), to = min(from + each, size);
#ifdef WEIGHT
  const double unit = head->weight / (0x1p12 * (double)n);
#else
  const double unit = 1;
#endif
  double up_so_far = 0, down_so_far = 0, highest = 0, lowest = 0, sum0 = 0, sum1 = 0;
  for (u32 i = from; i < to; i++) {
    double w0 = fine[2 * (begin + i)] * unit, w1 = fine[2 * (begin + i) + 1] * unit;
    double low = 0, high = 0x1p-40, above = 1, above_high = 1;
    if (at.bin) {
      low = score_of(at.number + place(i), &above);
      high = score_of(at.number + place(i + 1) - 1, &above_high);
    }
    sum0 += w0; sum1 += w1;
    highest = fmax(highest, up_so_far + w1 * above);
    lowest = fmax(lowest, down_so_far + w0 * high);
    up_so_far += w1 * above - w0 * low;
    down_so_far += w0 * high - w1 * above_high;
  }
  for (u32 d = 1; d < 32; d *= 2) {  // lanes one after the other, in the first
    double up = __shfl_down_sync(~0u, up_so_far, d), down = __shfl_down_sync(~0u, down_so_far, d);
    double more = __shfl_down_sync(~0u, highest, d), less = __shfl_down_sync(~0u, lowest, d);
    sum0 += __shfl_down_sync(~0u, sum0, d);
    sum1 += __shfl_down_sync(~0u, sum1, d);
    highest = fmax(highest, up_so_far + more); lowest = fmax(lowest, down_so_far + less);
    up_so_far += up; down_so_far += down;
  }
  if (lane) return;
  double rows = (double)(counts[2 * c] + counts[2 * c + 1]), slack = 1e-6 + 1e-9 * rows;
#ifdef WEIGHT
  // Every weight was rounded up, by a unit or what single precision takes.
  double whole = 0x1p-62 * head->scale;
  double w0 = wide(loads, 2 * most, 2 * c) * whole, w1 = wide(loads, 2 * most, 2 * c + 1) * whole;
  slack += 2 * rows * unit + 1e-6 * (w0 + w1);
  bool lost = sum0 < w0 * (1 - 1e-6) || sum1 < w1 * (1 - 1e-6);
#else
  bool lost = sum0 != (double)counts[2 * c] || sum1 != (double)counts[2 * c + 1];
#endif
  if (lost) atomicOr(&head->faults, (u64)TOO_MANY);  // more than a word held
  rise[c] = fmin(rise[c], highest + slack);
  fall[c] = fmin(fall[c], lowest + slack);
}

// Along the rows taken of marked cells, a block of threads each; rows of a common score are the rest.
extern "C" __global__ void __launch_bounds__(1024) within(
    const Key* __restrict__ keys, const double* __restrict__ weights, long long n, const u32* __restrict__ table,
    const u32* __restrict__ marks, const Bits* __restrict__ common, const double* __restrict__ before,
    Way* __restrict__ ways)
{
  __shared__ Way shared[1024];
  __shared__ long long ends[3];
  const u32 c = blockIdx.x;
  if (!(marks[c >> 5] >> (c & 31u) & 1u)) return;
  if (threadIdx.x < 3) {  // the first row of the cell, the first after it, the first after the common score
    long long low = 0, high = n;
    while (low < high) {
      long long mid = (low + high) / 2;
      Bits u = bits_of(keys, mid);
      u32 cell = cell_of(order(u), table);
      bool left = threadIdx.x == 0 ? cell < c : threadIdx.x == 1 ? cell <= c : cell < c || (cell == c && u < common[c]);
      if (left) low = mid + 1; else high = mid;
    }
    ends[threadIdx.x] = low;
  }
  __syncthreads();
  auto part = [&](long long start, long long stop) -> Way {
    long long each = (stop - start + 1023) / 1024, from = min(start + each * threadIdx.x, stop);
    return joined(walked(keys, weights, from, min(from + each, stop), stop), shared);
  };
  Way first = part(ends[0], ends[2]);
  __syncthreads();
  Way second = part(ends[2], ends[1]);
  if (threadIdx.x) return;
  double there = before[c + 1] - second.gain;  // after the common score
  ways[c].gain = 0;
  ways[c].top = fmax(fmax(before[c] + first.top, there), there + second.top);
  ways[c].bottom = fmin(fmin(before[c] + first.bottom, there), there + second.bottom);
}

// The extremes at the ends of cells and inside marked ones.
extern "C" __global__ void __launch_bounds__(1024) conclude(
    const Way* __restrict__ ways, const u32* __restrict__ marks, Head* __restrict__ head)
{
  __shared__ double shared[1024];
  double top = head->top, bottom = head->bottom;
  for (u32 c = threadIdx.x; c < (u32)head->cells; c += 1024) if (marks[c >> 5] >> (c & 31u) & 1u) {
    top = fmax(top, ways[c].top);
    bottom = fmin(bottom, ways[c].bottom);
  }
  shared[threadIdx.x] = top;
  __syncthreads();
  for (u32 half = 512; half; half >>= 1) {
    if (threadIdx.x < half) shared[threadIdx.x] = fmax(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) head->highest = shared[0];
  __syncthreads();
  shared[threadIdx.x] = bottom;
  __syncthreads();
  for (u32 half = 512; half; half >>= 1) {
    if (threadIdx.x < half) shared[threadIdx.x] = fmin(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) head->lowest = shared[0];
}
