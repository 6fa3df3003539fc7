// SPDX-License-Identifier: Apache-2.0
// Decodes pictures and compares them, beside the page's own thread.

import { luma, ssim } from "./ssim.js";

let reference = null;

async function pixels(blob) {
  const bitmap = await createImageBitmap(blob);
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return { width, height, luma: luma(context.getImageData(0, 0, width, height).data) };
}

/** A message is `{ id, reference }` or `{ id, picture }`; the answer `{ id, ssim }` or `{ id, error }`. */
self.addEventListener("message", async ({ data }) => {
  try {
    if (data.reference) {
      reference = await pixels(data.reference);
      self.postMessage({ id: data.id, width: reference.width, height: reference.height });
      return;
    }
    const { width, height, luma: values } = await pixels(data.picture);
    if (width !== reference.width || height !== reference.height) throw new Error("other dimensions");
    self.postMessage({ id: data.id, ssim: ssim(reference.luma, values, width, height) });
  } catch (error) {
    self.postMessage({ id: data.id, error: error.message });
  }
});
