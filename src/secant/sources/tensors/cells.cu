// Passes over scores on a GPU. Compiled at run time with
//   DOUBLE    1 where scores are float64, else float32
//   WEIGHT    float or double where rows carry sampling weights, else not defined
//   PACKED    1 where both weights and scores have 32 bits, so that 64 hold a row
//   TOTALS    1 where all sums over weights are wanted, not only those that the path needs
//   WIDE      1 where sums in shared memory may exceed 32 bits
//   M         how many bits of a score's mantissa tell its bin
// A score's own bits are a fixed-point number: they grow with it. Their upper part is a bin; a table
// says at which cell the bin begins and how many of its lower bits remain inside one cell. Those
// are added up as integers, so that no sum depends on the order in which rows are added.

typedef unsigned long long u64;
typedef unsigned int u32;
#if DOUBLE
typedef double Score; typedef double2 Pair; typedef u64 Bits;
#define MANTISSA 52
#define BIAS 1023
#define BITS(x) ((u64)__double_as_longlong(x))
#define SCORE(u) __longlong_as_double((long long)(u))
#else
typedef float Score; typedef float2 Pair; typedef u32 Bits;
#define MANTISSA 23
#define BIAS 127
#define BITS(x) __float_as_uint(x)
#define SCORE(u) __uint_as_float(u)
#endif
// A row is the bits of its score, then the label; a weight of 32 bits follows if there is room.
#if PACKED
typedef u64 Key;
#else
typedef Bits Key;
#endif
#if defined(WEIGHT) && !PACKED
#define APART 1
#else
#define APART 0
#endif
#define LOW (MANTISSA - M)
#define ONE ((Bits)BIAS << MANTISSA)
#define HALF ((Bits)(BIAS - 1) << MANTISSA)
#define NEGATIVE_ZERO ((Bits)1 << (8 * sizeof(Bits) - 1))
// From one half on, what counts is the distance from 1, which is exact: bins are as fine near 1 as
// near 0. Below 2^-40 there is one bin, the first; the last one is for the score 1.
#define FIRST ((int)(BIAS - 40) << M)
#define MIDDLE ((int)(HALF >> LOW) - FIRST + 1)
#define BINS (MIDDLE + ((MANTISSA + 1) << M) + 1)
#define TINY ((Bits)(BIAS - 40) << MANTISSA)
#define BAD_VALUE 1u
#define TOO_MANY 2u
#define STASH 256

// A number that grows with the score, whose lower bits are linear in it.
__device__ __forceinline__ Bits order(Bits u) {
  Bits mirrored = 2 * HALF - BITS((Score)1 - SCORE(u));
  return u < HALF ? u : mirrored;
}

__device__ __forceinline__ int bin_of(Bits k) {
  int bin = (int)(k >> LOW) - FIRST + 1;
  return bin < BINS - 1 ? bin : BINS - 1;
}

// A score below 2^-40 as a double: compilers take the smallest floats for 0.
__device__ __forceinline__ double tiniest(Bits u) {
#if DOUBLE
  return SCORE(u);
#else
  return u < ((Bits)1 << MANTISSA) ? (double)u * 0x1p-149 : (double)SCORE(u);
#endif
}

// The cell of a score; its place inside the cell is what the lower bits of its number say.
__device__ __forceinline__ u32 cell_of(Bits k, const u32* table) {
  int bin = bin_of(k);
  if (bin <= 0) return 0;
  u32 t = table[bin];
  return (t >> 6) + (u32)((k & (((Bits)1 << LOW) - 1)) >> (t & 63u));
}

// Four rows, read at once and not kept in caches.
__device__ __forceinline__ void four(const float* from, long long i, float* to) {
  float4 a = __ldcs((const float4*)from + i);
  to[0] = a.x; to[1] = a.y; to[2] = a.z; to[3] = a.w;
}
__device__ __forceinline__ void four(const double* from, long long i, double* to) {
  double2 a = __ldcs((const double2*)from + 2 * i), b = __ldcs((const double2*)from + 2 * i + 1);
  to[0] = a.x; to[1] = a.y; to[2] = b.x; to[3] = b.y;
}

// Columns of rows, as kernels are given them, and rows as they are read.
struct Rows {
  const Score* scores; const unsigned char* labels;
#ifdef WEIGHT
  const WEIGHT* weights;
#endif
  long long n;
};
#ifdef WEIGHT
#define COLUMNS_OF_ROWS const Score* scores_, const unsigned char* labels_, const WEIGHT* weights_, long long n_
#define ROWS {scores_, labels_, weights_, n_}
#else
#define COLUMNS_OF_ROWS const Score* scores_, const unsigned char* labels_, long long n_
#define ROWS {scores_, labels_, n_}
#endif
struct Four {
  Score s[4]; u32 labels;
#ifdef WEIGHT
  WEIGHT w[4];
#endif
};

__device__ __forceinline__ void four(const Rows& rows, long long i, Four& to) {
  four(rows.scores, i, to.s);
  to.labels = __ldcs((const u32*)rows.labels + i);
#ifdef WEIGHT
  four(rows.weights, i, to.w);
#endif
}

__device__ __forceinline__ Four one(const Rows& rows, long long i) {
  Four row = {};
  row.s[0] = rows.scores[i];
  row.labels = rows.labels[i];
#ifdef WEIGHT
  row.w[0] = rows.weights[i];
#endif
  return row;
}

// Shows all rows to the threads, four at a time, while the next ones are under way. What is left over
// comes one by one.
template <int ahead, typename Do> __device__ __forceinline__ void all_rows(const Rows& rows, Do&& look) {
  const long long step = (long long)gridDim.x * blockDim.x, fours = rows.n / 4;
  const long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  Four read[ahead + 1];
  #pragma unroll
  for (int k = 0; k < ahead; k++) if (me + k * step < fours) four(rows, me + k * step, read[k]);
  for (long long i = me; i < fours; i += step) {
    if (i + ahead * step < fours) four(rows, i + ahead * step, read[ahead]);
    look(read[0], 4 * i, 4);
    #pragma unroll
    for (int k = 0; k < ahead; k++) read[k] = read[k + 1];
  }
  if (me < rows.n - 4 * fours) look(one(rows, 4 * fours + me), 4 * fours + me, 1);
}
#ifdef WEIGHT
#define AHEAD 1
#else
#define AHEAD 2
#endif

// What passes share: how many cells there are, a score that many rows have (or what no score is), a
// power of two above all weights; then what was found.
struct Head {
  u64 cells, hot; double scale;
  u64 faults; double weight, variance, top, bottom;
  u64 open, loose; double highest, lowest; u64 taken;
};

// Adds to a sum of 96 bits in three words; the upper ones are seldom touched.
__device__ __forceinline__ void add_wide(u32* sum, u32 stride, u32 j, u64 x) {
  u32 low = (u32)x, old = atomicAdd(&sum[j], low);
  u32 high = (u32)(x >> 32) + (old + low < old);
  u32 over = (high == 0u) & ((u32)(x >> 32) != 0u);
  if (high) { old = atomicAdd(&sum[stride + j], high); over += old + high < old; }
  if (over) atomicAdd(&sum[2 * stride + j], over);
}

__device__ __forceinline__ void add_pair(u32* sum, u32 stride, u32 j, u64 x) {
  u32 low = (u32)x, old = atomicAdd(&sum[j], low);
  u32 high = (u32)(x >> 32) + (old + low < old);
  if (high) atomicAdd(&sum[stride + j], high);
}

__device__ __forceinline__ void flush_wide(u64* out, u64 stride, u32 j, u64 low, u64 high) {
  u64 old = atomicAdd(&out[j], low);
  high += old + low < old;
  if (high) atomicAdd(&out[stride + j], high);
}

template <typename T> __device__ __forceinline__ void block_sum(T value, T* shared, T* out) {
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  for (u32 half = blockDim.x / 2; half; half >>= 1) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = shared[0];
}

// What a block of threads keeps of totals: doubles, added up in a fixed order.
#define REALS 10  // w^2 v | tiny0, tiny1 | with weights: w, w^2, w^2 e^2, w^2 r, w^3 v, w e^2, largest step

extern "C" __global__ void __launch_bounds__(1024) cells(
    COLUMNS_OF_ROWS, const u32* __restrict__ table, const Head* __restrict__ head,
    u64* __restrict__ counts,   // 2 a cell
    u64* __restrict__ rests,    // low and high words, 2 a cell each
    u64* __restrict__ loads,    // the same for weights
    double* __restrict__ reals, // REALS a block
    u64* __restrict__ extra,    // hot0, hot1, zeros that happened, faults, observations
    u32 stride)                 // how many cells there is room for
{
  const Rows rows = ROWS;
  extern __shared__ __align__(16) u32 memory[];
  const u32 slots = 2 * (u32)head->cells, place = 2 * stride;
#ifndef WEIGHT
  const Bits hot = (Bits)head->hot;
#endif
  u32* tab = memory;
  u32* count = tab + ((BINS + 3) & ~3);
  u32* rest = count + slots;
#ifdef WEIGHT
  const double scale = head->scale, to_unit = 0x1p62 / scale;
  u32* load = rest + 2 * slots;
  const u32 words = 6 * slots;
#elif WIDE
  const u32 words = 3 * slots;
#else
  const u32 words = 2 * slots;
#endif
  for (u32 i = threadIdx.x; i < words; i += blockDim.x) count[i] = 0;
  for (u32 i = threadIdx.x; i < BINS; i += blockDim.x) tab[i] = table[i];
  __syncthreads();

  double v = 0, tiny0 = 0, tiny1 = 0;
  u32 hot0 = 0, hot1 = 0, zeros = 0, faults = 0, seen = 0;
#ifdef WEIGHT
  double sw = 0, sww = 0, squares = 0, happened = 0, third = 0, error = 0, largest = 0;
#endif
  auto row = [&](const Four& four, int k, Score s, u32 q) {
    Bits u = BITS(s);
#ifndef WEIGHT
    if (u == hot || u < TINY) {  // one branch for what is seldom
      if (u == hot) { hot1 += q; hot0 += 1u - q; return; }
      double x = tiniest(u);
      v += __fma_rn(-x, x, x);
      if (u == 0) zeros += q;
      if (q) tiny1 += x; else tiny0 += x;
      atomicAdd(&count[q], 1u);
      return;
    }
    Bits key = order(u);
#else
    const bool small = u < TINY;
    Bits key = small ? (Bits)(FIRST - 1) << LOW : order(u);
#endif
    double x = (double)s;
#ifdef WEIGHT
    if (small) x = tiniest(u);
    double weight = (double)four.w[k];
    if (!(weight >= 0 && weight <= 1e100) || (weight > 0 && weight < 1e-100)) { faults |= BAD_VALUE; return; }
    if (weight > scale) { faults |= TOO_MANY; return; }
    if (weight == 0) return;
    seen++;
    double ww = weight * weight, wwv = ww * __fma_rn(-x, x, x);
    sw += weight; v += wwv;
#if TOTALS
    double e = q ? 1 - x : x, see = weight * (e * e);
    sww += ww; squares += weight * see; error += see;
    third += weight * wwv; happened += q ? ww : 0; largest = fmax(largest, weight * fmax(x, 1 - x));
#endif
    if (small) {
      if (u == 0) zeros += q;
      if (q) tiny1 += weight * x; else tiny0 += weight * x;
    }
#else
    v += __fma_rn(-x, x, x);
#endif
    u32 t = tab[min((int)(key >> LOW) - (FIRST - 1), BINS - 1)];
    // The place in the bin: sums of it are turned into sums of places in cells at the end.
    Bits low = key & (((Bits)1 << LOW) - 1);
    u32 j = 2 * ((t >> 6) + (u32)(low >> (t & 63u))) + q;
    atomicAdd(&count[j], 1u);
#ifdef WEIGHT
    // In units of 2^-62 and 2^-46 of a power of two above all weights: a cell is narrow.
    double scaled = weight * to_unit;
    add_wide(load, slots, j, (u64)__double2ll_rn(scaled));
    Bits within = low & (((Bits)1 << (t & 63u)) - 1);
    add_pair(rest, slots, j, (u64)__double2ll_rn(scaled * (double)within * __hiloint2double((int)(1023u - 16u - (t & 63u)) << 20, 0)));
#elif WIDE
    add_pair(rest, slots, j, (u64)low);
#else
    atomicAdd(&rest[j], (u32)low);
#endif
  };
  all_rows<AHEAD>(rows, [&](const Four& read, long long, int many) {
    Four four = read;
    Bits most = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++) most = max(most, BITS(four.s[k]));
    if (most > ONE || (four.labels & 0xfefefefeu)) {
      // What no score or label is becomes 0, and the answer is not used; a negative zero is one.
      #pragma unroll
      for (int k = 0; k < 4; k++) if (BITS(four.s[k]) > ONE) {
        if (BITS(four.s[k]) != NEGATIVE_ZERO) faults |= BAD_VALUE;
        four.s[k] = 0;
      }
      if (four.labels & 0xfefefefeu) faults |= BAD_VALUE;
    }
    #pragma unroll
    for (int k = 0; k < 4; k++) if (k < many) row(four, k, four.s[k], four.labels >> (8 * k) & 1u);
  });
  __syncthreads();
  for (u32 j = threadIdx.x; j < slots; j += blockDim.x) {
    u32 c = count[j];
    if (!c) continue;
    atomicAdd(&counts[j], (u64)c);
#ifdef WEIGHT
    if (load[2 * slots + j] >> 15) faults |= TOO_MANY;  // no rest exceeds the weight
    flush_wide(rests, place, j, rest[j] | (u64)rest[slots + j] << 32, 0);
    flush_wide(loads, place, j, load[j] | (u64)load[slots + j] << 32, load[2 * slots + j]);
#else
    u32 low = 0, high = BINS - 1;               // the last bin that begins at or before the cell
    while (low < high) { u32 mid = (low + high + 1) / 2; if ((tab[mid] >> 6) <= j / 2) low = mid; else high = mid - 1; }
    u32 width = tab[low] & 63u, bits = 32 - __clz(c) + width;  // of the largest sum there can be
    u64 before = (u64)(j / 2 - (tab[low] >> 6)) << width;      // where the cell begins in its bin
#if WIDE
    if (bits > 64) faults |= TOO_MANY;
    flush_wide(rests, place, j, (rest[j] | (u64)rest[slots + j] << 32) - c * before, 0);
#else
    if (bits > 32) faults |= TOO_MANY;
    flush_wide(rests, place, j, (u64)(rest[j] - (u32)(c * before)), 0);
#endif
#endif
  }
  if (faults) atomicOr(&extra[3], (u64)faults);
  if (zeros) atomicAdd(&extra[2], (u64)zeros);
  if (hot0) atomicAdd(&extra[0], (u64)hot0);
  if (hot1) atomicAdd(&extra[1], (u64)hot1);
  if (seen) atomicAdd(&extra[4], (u64)seen);
  double* shared = (double*)memory;
  double* out = reals + REALS * blockIdx.x;
  block_sum(v, shared, out);
  block_sum(tiny0, shared, out + 1);
  block_sum(tiny1, shared, out + 2);
#ifdef WEIGHT
  block_sum(sw, shared, out + 3);
  block_sum(sww, shared, out + 4);
  block_sum(squares, shared, out + 5);
  block_sum(happened, shared, out + 6);
  block_sum(third, shared, out + 7);
  block_sum(error, shared, out + 8);
  __syncthreads();
  shared[threadIdx.x] = largest;
  __syncthreads();
  for (u32 half = blockDim.x / 2; half; half >>= 1) {
    if (threadIdx.x < half) shared[threadIdx.x] = fmax(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[9] = shared[0];
#endif
}

// Weight in each of very many cells, by response: no more than tells how far the path can stray.
extern "C" __global__ void __launch_bounds__(1024) fine(
    COLUMNS_OF_ROWS, double to_unit, const u32* __restrict__ table, Bits hot,
#ifdef WEIGHT
    u64* __restrict__ sums
#else
    u32* __restrict__ sums
#endif
) {
  const Rows rows = ROWS;
  extern __shared__ __align__(16) u32 memory[];
  for (u32 i = threadIdx.x; i < BINS; i += blockDim.x) memory[i] = table[i];
  __syncthreads();
#ifndef WEIGHT
  u32 hot0 = 0, hot1 = 0;
#endif
  all_rows<AHEAD>(rows, [&](const Four& four, long long, int many) {
    #pragma unroll
    for (int k = 0; k < 4; k++) if (k < many) {
      Bits u = BITS(four.s[k]);
      u32 q = four.labels >> (8 * k) & 1u;
      if (u == NEGATIVE_ZERO) u = 0;
#ifdef WEIGHT
      // Rounded up: a limit, not a sum.
      u64 add = (u64)__double2ll_ru((double)four.w[k] * to_unit);
      if (add) atomicAdd(&sums[2 * cell_of(order(u), memory) + q], add);
#else
      if (u == hot) { hot1 += q; hot0 += 1u - q; continue; }
      atomicAdd(&sums[2 * cell_of(order(u), memory) + q], 1u);
#endif
    }
  });
#ifndef WEIGHT
  if (hot0 | hot1) {
    u32 c = cell_of(order(hot), memory);
    if (hot0) atomicAdd(&sums[2 * c], hot0);
    if (hot1) atomicAdd(&sums[2 * c + 1], hot1);
  }
#endif
}

// Where cells are: the number at which one begins, and what the lowest bit is worth there.
struct Place { u32 bin, width; Bits number; double unit; };

__device__ __forceinline__ Place place_of(u32 c, const u32* tab) {
  u32 low = 0, high = BINS - 1;  // the last bin that begins at or before the cell
  while (low < high) { u32 mid = (low + high + 1) / 2; if ((tab[mid] >> 6) <= c) low = mid; else high = mid - 1; }
  Place at = {low, tab[low] & 63u, 0, 0};
  if (low == 0) return at;
  at.number = (((Bits)low - 1 + FIRST) << LOW) + ((Bits)(c - (tab[low] >> 6)) << at.width);
  if (low == BINS - 1) { at.number = 2 * HALF; return at; }
  int octave = (int)(low - 1) >> M;
  at.unit = ldexp(1.0, (low < MIDDLE ? octave - 40 : 37 - octave) - MANTISSA);
  return at;
}

// The score of a number, and its distance from 1, exact where numbers tell of that.
__device__ __forceinline__ double score_of(Bits number, double* distance) {
  if (number < HALF) { double x = (double)SCORE(number); *distance = 1 - x; return x; }
  *distance = number >= 2 * HALF ? 0.0 : (double)SCORE(2 * HALF - number);
  return 1 - *distance;
}

// Appends the rows of marked cells, but for each cell's common score: its sums are the rest. Nothing is
// done where more than a limit are expected, as `head` tells unless it is null.
#define NOT_MARKED (~(Bits)1)
#define READS (DOUBLE ? 3 : 4)
extern "C" __global__ void __launch_bounds__(1024) collect(
    COLUMNS_OF_ROWS, const Head* __restrict__ head, u64 limit, const u32* __restrict__ table, u32 n_cells, const u32* __restrict__ marks,
    const Bits* __restrict__ common, Key* __restrict__ keys, double* __restrict__ weights, u64* __restrict__ size,
    u64 capacity)
{
  const Rows rows = ROWS;
  extern __shared__ __align__(16) u32 memory[];
  __shared__ u32 waiting[32];
  if (head) {
    if (head->loose > limit || head->faults) return;
    n_cells = (u32)head->cells;
  }
  __shared__ Score ends[4];
  const u32 words = (n_cells + 31) / 32, warp = threadIdx.x / 32, lane = threadIdx.x & 31u;
  Bits* set_aside = (Bits*)memory;
  u32* tab = (u32*)(set_aside + n_cells);
  u32* mark = tab + BINS;
  for (u32 i = threadIdx.x; i < BINS; i += blockDim.x) tab[i] = table[i];
  for (u32 i = threadIdx.x; i < words; i += blockDim.x) mark[i] = marks[i];
  if (threadIdx.x < 32) waiting[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = threadIdx.x; i < n_cells; i += blockDim.x) set_aside[i] = mark[i >> 5] >> (i & 31u) & 1u ? common[i] : NOT_MARKED;
  // Where a warp found what it takes waits here; it is fetched when there is much of it.
  u32* stash = mark + words + STASH * warp;
  if (threadIdx.x == 0) {
    // Marked cells lie in two ranges of scores, apart by the widest gap; most rows lie in neither.
    u32 first = ~0u, last = 0, gap = 0, left = 0, right = 0;
    for (u32 i = 0; i < words; i++) if (mark[i]) {
      u32 here = 32 * i + __ffs(mark[i]) - 1;
      if (first == ~0u) first = left = right = here;
      else if (here - last > gap) { gap = here - last; left = last; right = here; }
      last = 32 * i + 31 - __clz(mark[i]);
    }
    if (!gap) left = last;
    auto end = [&](u32 c, int outward) -> Score {
      if (c == 0) return -1;
      if (c >= n_cells) return 2;
      double distance;
      Score s = (Score)score_of(place_of(c, tab).number, &distance);
      return s > 0 && s < 1 ? SCORE(BITS(s) + outward) : s;
    };
    ends[0] = end(first, -1); ends[1] = end(left + 1, 1);
    ends[2] = end(right, -1); ends[3] = end(last + 1, 1);
  }
  __syncthreads();
  const Score a = ends[0], b = ends[1], c = ends[2], d = ends[3];
  const long long n = rows.n, step = (long long)gridDim.x * blockDim.x, fours = n / 4;
  const long long first = (long long)blockIdx.x * blockDim.x + 32 * warp;
  auto row_of = [&](u32 t) { u32 code = stash[t]; return 4 * (first + (code >> 7) * step) + (code & 127u); };
  auto flush = [&]() {
    const u32 filled = waiting[warp];
    u32 kept = filled;
#ifdef WEIGHT
    kept = 0;
    for (u32 t = lane; t - lane < filled; t += 32)
      kept += __popc(__ballot_sync(~0u, t < filled && rows.weights[row_of(t)] > 0));
#endif
    u64 base = 0;
    if (lane == 0) base = atomicAdd(size, (u64)kept);
    base = __shfl_sync(~0u, base, 0);
    for (u32 t = lane; t - lane < filled; t += 32) {
      const long long r = row_of(t < filled ? t : 0);
      bool keep = t < filled;
#ifdef WEIGHT
      const WEIGHT w = rows.weights[r];
      keep = keep && w > 0;
#endif
      const u32 all = __ballot_sync(~0u, keep);
      const u64 at = base + __popc(all & ((1u << lane) - 1u));
      base += __popc(all);
      if (!keep || at >= capacity) continue;
      Bits u = BITS(rows.scores[r]);
      if (u == NEGATIVE_ZERO) u = 0;
#if PACKED
      keys[at] = (Key)(u << 1 | rows.labels[r]) << 32 | __float_as_uint(w);
#else
      keys[at] = u << 1 | rows.labels[r];
#endif
#if APART
      weights[at] = (double)w;
#endif
    }
    __syncwarp();
    if (lane == 0) waiting[warp] = 0;
    __syncwarp();
  };
  // Whole warps go round together; rows left over come as a last round of fewer.
  auto look = [&](long long i, u32 round, Score* s) {
    u32 near = 0;
    if (i == fours) for (int k = 0; k < 4; k++) s[k] = 4 * i + k < n ? rows.scores[4 * i + k] : (Score)-2;
    #pragma unroll
    for (int k = 0; k < 4; k++) if ((s[k] >= a && s[k] <= b) || (s[k] >= c && s[k] <= d)) near |= 1u << k;
    if (i > fours) near = 0;
    if (!__any_sync(~0u, near)) return;
    u32 takes = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++) {
      Bits u = near >> k & 1u ? BITS(s[k]) : 0;
      if (u == NEGATIVE_ZERO) u = 0;
      const Bits aside = set_aside[cell_of(order(u), tab)];
      if (aside != NOT_MARKED && aside != u) takes |= 1u << k;
    }
    takes &= near;
    if (!__any_sync(~0u, takes)) return;
    if (takes) {
      u32 at = atomicAdd(&waiting[warp], (u32)__popc(takes));
      for (; takes; takes &= takes - 1) stash[at++] = round << 7 | lane << 2 | (__ffs(takes) - 1);
    }
    __syncwarp();
    if (waiting[warp] > STASH - 128) flush();
  };
  const long long me = first + lane;
  Score read[READS][4];
  #pragma unroll
  for (int k = 0; k < READS - 1; k++) if (me + k * step < fours) four(rows.scores, me + k * step, read[k]);
  u32 round = 0;
  for (long long i = me; i - lane <= fours; i += READS * step) {
    #pragma unroll
    for (int k = 0; k < READS; k++, round++) {
      const long long here = i + k * step, there = here + (READS - 1) * step;
      if (there < fours) four(rows.scores, there, read[(k + READS - 1) % READS]);
      if (here - lane <= fours) look(here, round, read[k]);
    }
  }
  __syncwarp();
  if (waiting[warp]) flush();
}

// Sums over ranges of sorted rows, one block of threads each, in a fixed order: low, high, n1, down,
// up, w0, w1, and how far the path rises and falls inside.
#define COLUMNS 9
struct Stretch { double down, up, w0, w1, rise, fall; u32 happened; };

extern "C" __global__ void __launch_bounds__(256) ranges(
    const Bits* __restrict__ keys,
#ifdef WEIGHT
    const double* __restrict__ weights,
#endif
    const long long* __restrict__ edges, double* __restrict__ out)
{
  __shared__ Stretch shared[256];
  const long long start = edges[2 * blockIdx.x], stop = edges[2 * blockIdx.x + 1];
  // Neighbouring threads have neighbouring rows, a stretch each.
  const long long each = (stop - start + 255) / 256;
  const long long from = min(start + each * threadIdx.x, stop), to = min(from + each, stop);
  Stretch me = {0, 0, 0, 0, 0, 0, 0};
  for (long long i = from; i < to; i++) {
    Bits key = keys[i];
    double x = (double)SCORE(key >> 1);
#ifdef WEIGHT
    double w = weights[i];
#else
    const double w = 1;
#endif
    if (key & 1) { me.up += w * (1 - x); me.w1 += w; me.happened++; } else { me.down += w * x; me.w0 += w; }
    me.rise = fmax(me.rise, me.up - me.down);
    me.fall = fmax(me.fall, me.down - me.up);
  }
  shared[threadIdx.x] = me;
  __syncthreads();
  for (u32 step = 1; step < 256; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) {
      Stretch& a = shared[threadIdx.x]; Stretch b = shared[threadIdx.x + step];
      double gain = a.up - a.down;
      a.rise = fmax(a.rise, gain + b.rise); a.fall = fmax(a.fall, b.fall - gain);
      a.down += b.down; a.up += b.up; a.w0 += b.w0; a.w1 += b.w1; a.happened += b.happened;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    Stretch a = shared[0];
    // Bits, not floats: the tiniest would be taken for 0.
    double row[COLUMNS] = {__longlong_as_double((long long)(keys[start] >> 1)),
      __longlong_as_double((long long)(keys[stop - 1] >> 1)), (double)a.happened, a.down, a.up, a.w0, a.w1, a.rise, a.fall};
    for (int i = 0; i < COLUMNS; i++) out[COLUMNS * (u64)blockIdx.x + i] = row[i];
  }
}
