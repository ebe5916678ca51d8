/* Storage types and the exponential that the C kernels share. Arithmetic is float32 whatever the storage is. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16;
typedef float f32;

static inline float bf16_get(bf16 v) {
    uint32_t bits = (uint32_t)v << 16;
    float out;
    memcpy(&out, &bits, 4);
    return out;
}
static inline bf16 bf16_put(float v) {
    uint32_t bits;
    memcpy(&bits, &v, 4);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0; /* NaN stays NaN */
    return (bf16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline float f32_get(f32 v) { return v; }
static inline f32 f32_put(float v) { return v; }

/* exp to about one unit in the last place: 2^k times a polynomial (Cephes expf, Moshier 1992), written so that it vectorises. */
static inline float fast_exp(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float k = rintf(x * 1.44269504088896341f);
    x -= k * 0.693359375f;
    x -= k * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * x + 1.3981999507e-3f;
    p = p * x + 8.3334519073e-3f;
    p = p * x + 4.1665795894e-2f;
    p = p * x + 1.6666665459e-1f;
    p = p * x + 5.0000001201e-1f;
    p = p * x * x + x + 1.0f;
    uint32_t bits = (uint32_t)((int32_t)k + 127) << 23;
    float scale;
    memcpy(&scale, &bits, 4);
    return p * scale;
}
