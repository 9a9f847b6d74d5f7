// Passes over scores on a GPU. Compiled at run time with
//   DOUBLE    1 where scores are float64, else float32
//   WEIGHT    float or double where rows carry sampling weights, else not defined
//   PACKED    1 where both weights and scores have 32 bits, so that 64 hold a row
//   WIDE      1 where sums in shared memory may exceed 32 bits
//   THREADS   how many threads a block has in the first pass
//   RESIDENT  how many blocks share a multiprocessor then
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

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) cells(
    const Score* __restrict__ scores, const unsigned char* __restrict__ labels,
#ifdef WEIGHT
    const WEIGHT* __restrict__ weights,
#endif
    long long n, const u32* __restrict__ table, const Head* __restrict__ head,
    u64* __restrict__ counts,   // 2 a cell
    u64* __restrict__ rests,    // low and high words, 2 a cell each
    u64* __restrict__ loads,    // the same for weights
    double* __restrict__ reals, // REALS a block
    u64* __restrict__ extra,    // hot0, hot1, zeros that happened, faults, observations
    u32 stride)                 // how many cells there is room for
{
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
  u32* load = rest + 3 * slots;
  const u32 words = 7 * slots;
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
  auto row = [&](Score s, u32 q
#ifdef WEIGHT
    , WEIGHT w
#endif
  ) {
    Bits u = BITS(s);
#ifndef WEIGHT
    if (u == hot) { hot1 += q; hot0 += 1u - q; return; }
#endif
    double x = (double)s;
    bool small = u < TINY;
#if !DOUBLE
    if (u < ((Bits)1 << MANTISSA)) x = (double)u * 0x1p-149;  // compilers take such floats for 0
#endif
#ifdef WEIGHT
    double weight = (double)w;
    if (!(weight >= 0 && weight <= 1e100) || (weight > 0 && weight < 1e-100)) { faults |= BAD_VALUE; return; }
    if (weight > scale) { faults |= TOO_MANY; return; }
    if (weight == 0) return;
    seen++;
    double ww = weight * weight, wwv = ww * __fma_rn(-x, x, x);
    double e = q ? 1 - x : x, see = weight * (e * e);
    sw += weight; sww += ww; v += wwv; squares += weight * see; error += see;
    third += weight * wwv; happened += q ? ww : 0; largest = fmax(largest, weight * fmax(x, 1 - x));
#else
    v += __fma_rn(-x, x, x);
    const double weight = 1;
#endif
    Bits key = order(u);
    if (small) {
      if (u == 0) zeros += q;
      if (q) tiny1 += weight * x; else tiny0 += weight * x;
      key = (Bits)(FIRST - 1) << LOW;
    }
    u32 t = tab[min((int)(key >> LOW) - (FIRST - 1), BINS - 1)];
    // The place in the bin: sums of it are turned into sums of places in cells at the end.
    Bits low = key & (((Bits)1 << LOW) - 1);
    u32 j = 2 * ((t >> 6) + (u32)(low >> (t & 63u))) + q;
    atomicAdd(&count[j], 1u);
#ifdef WEIGHT
    // Both are in units of 2^-62 of a power of two above all weights.
    double scaled = weight * to_unit;
    add_wide(load, slots, j, (u64)__double2ll_rn(scaled));
    Bits within = low & (((Bits)1 << (t & 63u)) - 1);
    add_wide(rest, slots, j, (u64)__double2ll_rn(scaled * ((double)within / (double)((u64)1 << (t & 63u)))));
#elif WIDE
    add_pair(rest, slots, j, (u64)low);
#else
    atomicAdd(&rest[j], (u32)low);
#endif
  };
  // What no score or label is becomes 0, and the answer is not used; a negative zero is one.
  auto mend = [&](Score& s, u32& q) {
    if (BITS(s) > ONE) { if (BITS(s) != NEGATIVE_ZERO) faults |= BAD_VALUE; s = 0; }
    if (q > 1u) { faults |= BAD_VALUE; q = 0; }
  };
  const long long step = (long long)gridDim.x * blockDim.x, fours = n / 4;
  const long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long i = me; i < fours; i += step) {
    Score s[4];
    four(scores, i, s);
    u32 l = __ldcs((const u32*)labels + i);
#ifdef WEIGHT
    WEIGHT w[4];
    four(weights, i, w);
#endif
    u32 q[4] = {l & 255u, l >> 8 & 255u, l >> 16 & 255u, l >> 24};
    Bits largest_bits = max(max(BITS(s[0]), BITS(s[1])), max(BITS(s[2]), BITS(s[3])));
    if (largest_bits > ONE || (l & 0xfefefefeu)) for (int k = 0; k < 4; k++) mend(s[k], q[k]);
    #pragma unroll
#ifdef WEIGHT
    for (int k = 0; k < 4; k++) row(s[k], q[k], w[k]);
#else
    for (int k = 0; k < 4; k++) row(s[k], q[k]);
#endif
  }
  if (me < n - 4 * fours) {
    Score s = scores[4 * fours + me];
    u32 q = labels[4 * fours + me];
    mend(s, q);
#ifdef WEIGHT
    row(s, q, weights[4 * fours + me]);
#else
    row(s, q);
#endif
  }
  __syncthreads();
  for (u32 j = threadIdx.x; j < slots; j += blockDim.x) {
    u32 c = count[j];
    if (!c) continue;
    atomicAdd(&counts[j], (u64)c);
#ifdef WEIGHT
    flush_wide(rests, place, j, rest[j] | (u64)rest[slots + j] << 32, rest[2 * slots + j]);
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
    const Score* __restrict__ scores, const unsigned char* __restrict__ labels,
#ifdef WEIGHT
    const WEIGHT* __restrict__ weights, double to_unit,
#endif
    long long n, const u32* __restrict__ table, Bits hot,
#ifdef WEIGHT
    u64* __restrict__ sums
#else
    u32* __restrict__ sums
#endif
) {
  extern __shared__ __align__(16) u32 memory[];
  for (u32 i = threadIdx.x; i < BINS; i += blockDim.x) memory[i] = table[i];
  __syncthreads();
#ifndef WEIGHT
  u32 hot0 = 0, hot1 = 0;
#endif
  const long long step = (long long)gridDim.x * blockDim.x;
  const long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  auto row = [&](long long i, Score s, u32 q) {
    Bits u = BITS(s);
    if (u == NEGATIVE_ZERO) u = 0;
#ifdef WEIGHT
    // Rounded up: a limit, not a sum.
    u64 add = (u64)__double2ll_ru((double)weights[i] * to_unit);
    if (add) atomicAdd(&sums[2 * cell_of(order(u), memory) + q], add);
#else
    if (u == hot) { hot1 += q; hot0 += 1u - q; return; }
    atomicAdd(&sums[2 * cell_of(order(u), memory) + q], 1u);
#endif
  };
  const long long fours = n / 4;
  for (long long i = me; i < fours; i += step) {
    Score s[4];
    four(scores, i, s);
    uchar4 l = __ldcs((const uchar4*)labels + i);
    u32 q[4] = {l.x, l.y, l.z, l.w};
    #pragma unroll
    for (int k = 0; k < 4; k++) row(4 * i + k, s[k], q[k]);
  }
  if (me < n - 4 * fours) row(4 * fours + me, scores[4 * fours + me], labels[4 * fours + me]);
#ifndef WEIGHT
  if (hot0 | hot1) {
    u32 c = cell_of(order(hot), memory);
    if (hot0) atomicAdd(&sums[2 * c], hot0);
    if (hot1) atomicAdd(&sums[2 * c + 1], hot1);
  }
#endif
}

// Appends the rows of marked cells, but for each cell's common score: its sums are the rest.
extern "C" __global__ void __launch_bounds__(1024) collect(
    const Score* __restrict__ scores, const unsigned char* __restrict__ labels,
#ifdef WEIGHT
    const WEIGHT* __restrict__ weights, double* __restrict__ out_weights,
#endif
    long long n, const u32* __restrict__ table, u32 n_cells, const u32* __restrict__ marks,
    const Bits* __restrict__ common, Key* __restrict__ keys, u64* __restrict__ size, u64 capacity)
{
  extern __shared__ __align__(16) u32 memory[];
  u32* tab = memory;
  u32* mark = tab + ((BINS + 3) & ~3);
  const u32 words = ((n_cells + 31) / 32 + 3) & ~3;
  for (u32 i = threadIdx.x; i < BINS; i += blockDim.x) tab[i] = table[i];
  for (u32 i = threadIdx.x; i < (n_cells + 31) / 32; i += blockDim.x) mark[i] = marks[i];
  // What a warp has taken waits here, so that few of them ask at once where to put it.
  const u32 warp = threadIdx.x / 32;
  Key* stash = (Key*)(mark + words) + STASH * warp;
#if APART
  double* heavy = (double*)((Key*)(mark + words) + STASH * 32) + STASH * warp;
#endif
  u32 filled = 0;
  auto flush = [&](u32 lane) {
    u64 base = 0;
    if (lane == 0) base = atomicAdd(size, (u64)filled);
    base = __shfl_sync(0xffffffffu, base, 0);
    for (u32 t = lane; t < filled; t += 32) if (base + t < capacity) {
      keys[base + t] = stash[t];
#if APART
      out_weights[base + t] = heavy[t];
#endif
    }
    filled = 0;
    __syncwarp();
  };
  __syncthreads();
  const long long step = (long long)gridDim.x * blockDim.x, fours = (n + 3) / 4;
  const long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const u32 lane = threadIdx.x & 31u;
  // Whole warps go round together, so that they can count what they take.
  for (long long i = me; i - lane < fours; i += step) {
    Score s[4]; bool there = 4 * i + 3 < n;
    if (there) four(scores, i, s);
    u32 takes = 0; Key key[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) {
      long long r = 4 * i + k;
      if (!there) { if (r >= n) continue; s[k] = scores[r]; }
      Bits u = BITS(s[k]);
      if (u == NEGATIVE_ZERO) u = 0;
      u32 c = cell_of(order(u), tab);
      if (!(mark[c >> 5] >> (c & 31u) & 1u)) continue;
      if (u == common[c]) continue;
#ifdef WEIGHT
      if (!(weights[r] > 0)) continue;
#endif
#if PACKED
      key[k] = (Key)(u << 1 | labels[r]) << 32 | __float_as_uint(weights[r]);
#else
      key[k] = u << 1 | labels[r];
#endif
      takes |= 1u << k;
    }
    u32 any = __ballot_sync(0xffffffffu, takes != 0);
    if (!any) continue;
    u32 mine = __popc(takes), before = mine;
    for (int d = 1; d < 32; d <<= 1) { u32 up = __shfl_up_sync(0xffffffffu, before, d); if (lane >= d) before += up; }
    u32 all = __shfl_sync(0xffffffffu, before, 31);
    u32 at = filled + before - mine;
    #pragma unroll
    for (int k = 0; k < 4; k++) if (takes >> k & 1u) {
      stash[at] = key[k];
#if APART
      heavy[at] = (double)weights[4 * i + k];
#endif
      at++;
    }
    filled += all;
    __syncwarp();
    if (filled > STASH - 128) flush(lane);
  }
  if (filled) flush(lane);
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
