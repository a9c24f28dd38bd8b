/** ln of the gamma function for x > 0, by Lanczos' approximation (1964); relative error about 1e-10. */
function lnGamma(x: number): number {
  let sum = 1.000000000190015
  for (const [nth, factor] of LANCZOS.entries()) sum += factor / (x + nth + 1)
  const base = x + 5.5
  return (x + 0.5) * Math.log(base) - base + Math.log((Math.sqrt(2 * Math.PI) * sum) / x)
}

const LANCZOS = [
  76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2,
  -0.5395239384953e-5,
]

/**
 * The probability that a beta variable is at most `x`: the regularized incomplete beta function, by its continued fraction (DLMF
 * 8.17.22, evaluated by Lentz's method).
 *
 * @example betaCdf(0.5, 2, 2) // 0.5
 */
export function betaCdf(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  return x > (a + 1) / (a + b + 2) ? 1 - lowerSide(1 - x, b, a) : lowerSide(x, a, b)
}

/** The same for x up to about (a + 1) / (a + b + 2), where the fraction converges quickly. */
function lowerSide(x: number, a: number, b: number): number {
  const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  const tiny = 1e-300
  let c = 1
  let d = 1 - ((a + b) * x) / (a + 1)
  d = 1 / (Math.abs(d) < tiny ? tiny : d)
  let fraction = d
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    let change = 1
    for (const term of [even, odd]) {
      d = 1 + term * d
      d = 1 / (Math.abs(d) < tiny ? tiny : d)
      c = 1 + term / c
      if (Math.abs(c) < tiny) c = tiny
      change = c * d
      fraction *= change
    }
    if (Math.abs(change - 1) < 1e-14) break
  }
  return Math.min(1, (front * fraction) / a)
}

/**
 * The value that a beta variable is below with probability `p`, to about 1e-12.
 *
 * @example betaQuantile(0.5, 3, 3) // 0.5
 */
export function betaQuantile(p: number, a: number, b: number): number {
  let [low, high] = [0, 1]
  for (let nth = 0; nth < 45; nth++) {
    const middle = (low + high) / 2
    if (betaCdf(middle, a, b) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
