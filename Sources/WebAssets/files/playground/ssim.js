// SPDX-License-Identifier: Apache-2.0
// Structural similarity of two pictures: Wang, Bovik, Sheikh and Simoncelli, IEEE Transactions on Image Processing 13 (2004),
// on luma (BT.601) of decoded sRGB, with their Gaussian of 11 taps and the constants of 8 bits.

const radius = 5;
const sigma = 1.5;
const c1 = (0.01 * 255) ** 2;
const c2 = (0.03 * 255) ** 2;

const kernel = (() => {
  const weights = Array.from({ length: 2 * radius + 1 }, (_, index) => Math.exp(-((index - radius) ** 2) / (2 * sigma * sigma)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return Float32Array.from(weights, (weight) => weight / sum);
})();

/** Luma of RGBA; transparent parts are on white. */
export function luma(rgba) {
  const values = new Float32Array(rgba.length / 4);
  for (let index = 0, at = 0; index < values.length; index++, at += 4) {
    const alpha = rgba[at + 3] / 255;
    values[index] = (0.299 * rgba[at] + 0.587 * rgba[at + 1] + 0.114 * rgba[at + 2]) * alpha + 255 * (1 - alpha);
  }
  return values;
}

/** The means of the Gaussian's windows that lie within the picture. */
function blurred(values, width, height) {
  const columns = width - 2 * radius;
  const rows = height - 2 * radius;
  const across = new Float32Array(columns * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < columns; x++) {
      let sum = 0;
      for (let tap = 0; tap <= 2 * radius; tap++) sum += kernel[tap] * values[y * width + x + tap];
      across[y * columns + x] = sum;
    }
  }
  const both = new Float32Array(columns * rows);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      let sum = 0;
      for (let tap = 0; tap <= 2 * radius; tap++) sum += kernel[tap] * across[(y + tap) * columns + x];
      both[y * columns + x] = sum;
    }
  }
  return both;
}

const product = (a, b) => a.map((value, index) => value * b[index]);

/** The similarity in one window of means and squares. */
function similarity(meanA, meanB, squareA, squareB, both) {
  const varianceA = squareA - meanA * meanA;
  const varianceB = squareB - meanB * meanB;
  const covariance = both - meanA * meanB;
  return ((2 * meanA * meanB + c1) * (2 * covariance + c2)) / ((meanA * meanA + meanB * meanB + c1) * (varianceA + varianceB + c2));
}

const mean = (values) => values.reduce((total, value) => total + value, 0) / values.length;

/** The mean similarity of two pictures' luma; 1 is equal. A picture smaller than the window is one window. */
export function ssim(a, b, width, height) {
  if (width <= 2 * radius || height <= 2 * radius) {
    return similarity(mean(a), mean(b), mean(product(a, a)), mean(product(b, b)), mean(product(a, b)));
  }
  const blur = (values) => blurred(values, width, height);
  const [meanA, meanB] = [blur(a), blur(b)];
  const [squareA, squareB, both] = [blur(product(a, a)), blur(product(b, b)), blur(product(a, b))];
  let sum = 0;
  for (let index = 0; index < meanA.length; index++) {
    sum += similarity(meanA[index], meanB[index], squareA[index], squareB[index], both[index]);
  }
  return sum / meanA.length;
}
