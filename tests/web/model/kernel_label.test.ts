/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels in a table. */
import { bareKernel, kernelLabels, spelledLabels, telling } from '../../../web/src/model/kernel_label';

const EIGEN = 'Eigen::TensorEvaluator<Eigen::TensorAssignOp<Eigen::TensorMap<Eigen::Tensor<float, 1, 1, long>, 16>>>';

describe('kernel labels', () => {
  test('without result, namespaces and parameters', () => {
    expect(
      bareKernel('void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<float>)'),
    ).toBe('reduce_kernel<512, 1, ReduceOp<float>>');
    expect(bareKernel('void (anonymous namespace)::softmax<float>(float*, int)')).toBe('softmax<float>');
    expect(bareKernel('volta_sgemm_32x32_tn')).toBe('volta_sgemm_32x32_tn');
    expect(bareKernel('ampere::gemm')).toBe('ampere::gemm');
    expect(bareKernel('')).toBe('');
    expect(bareKernel('(strange)')).toBe('(strange)');
  });
  test('what a family begins with is left out', () => {
    const sum = `void Eigen::internal::EigenMetaKernel<${EIGEN}, scalar_sum_op<float>>(int)`;
    const product = `void Eigen::internal::EigenMetaKernel<${EIGEN}, scalar_product_op<float>>(int)`;
    const labels = kernelLabels([sum, product, sum]);
    expect(labels.get(sum)).toBe('EigenMetaKernel<…scalar_sum_op<float>>');
    expect(labels.get(product)).toBe('EigenMetaKernel<…scalar_product_op<float>>');
  });
  test('what only the compiler needs is left out', () => {
    const made = (what: string) =>
      `void at::elementwise_kernel<128, 4, at::impl<${what}>(at::Iterator&, ${what} const&)` +
      `::{lambda(int)#1}>(int, at::impl<${what}>)`;
    const copy = (type: string) =>
      made(`at::copy_kernel(at::Iterator&)::{lambda()#3}::operator()() const::{lambda(${type})#1}`);
    const labels = kernelLabels(['Add<float>', 'Mul<at::Op<int> >'].map(made));
    expect([...labels.values()]).toEqual([
      'elementwise_kernel<128, 4, impl<Add<float>>>',
      'elementwise_kernel<128, 4, impl<Mul<Op<int>>>>',
    ]);
    expect(kernelLabels([copy('float')]).get(copy('float'))).toBe('elementwise_kernel<128, 4, impl<copy_kernel>>');
    expect(new Set(kernelLabels(['float', 'double'].map(copy)).values()).size).toBe(2);
  });
  test('equal labels only for equal names', () => {
    const labels = kernelLabels(['void f<int>(float)', 'void f<int>(double)', 'a::g', 'b::g']);
    expect(new Set(labels.values()).size).toBe(4);
  });
  test('what is the same at both ends shows what is between', () => {
    const made = (tiles: string) =>
      `sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize${tiles}_stage3_warpsize2x2x1_ffma_execute_kernel__5x_cublas`;
    expect([...kernelLabels([made('64x64x8'), made('128x64x8')]).values()]).toEqual([
      'sm80_xmma_gemm_f32…tilesize64x64x8…el__5x_cublas',
      'sm80_xmma_gemm_f3…tilesize128x64x8…el__5x_cublas',
    ]);
    const one = made('64x64x8');
    expect(kernelLabels([one, 'volta_sgemm']).get(one)).toBe(one);
    expect(kernelLabels([one, made('128x64x8')], 200).get(one)).toBe(one); // where there is room
    expect(spelledLabels([one, made('128x64x8')]).get(one)).toBe('sm80_xmma_gemm_f32…tilesize64x64x8…el__5x_cublas');
    const [wide, other] = ['aaaaaaaa', 'bbbbbbbb'].map(
      (what) => `gemm_${'x'.repeat(60)}_${what}_${'y'.repeat(60)}_end`,
    );
    expect(kernelLabels([wide!, other!], 120).get(wide!)!.length).toBe(60); // half of the room is there on any page
    const rows = ['unweighted', 'weighted'].flatMap((what) =>
      ['cta', 'warp'].map((by) => `split_embedding_backward_codegen_${what}_kernel_${by}_per_row_1`),
    );
    expect(new Set(kernelLabels(rows, 40).values()).size).toBe(4);
    const parts = ['a', 'a_b'].map(made); // one's middle is the beginning of the other's
    expect(new Set(kernelLabels(parts).values()).size).toBe(2);
  });
  test('in a narrow place a call is its function, and a kernel goes without its spelling', () => {
    const rows = [
      ['$model.py:10 layer_8', 'layer_8'],
      ['$strange', '$strange'],
      ['void at::native::reduce_kernel<512>(int)', 'reduce_kernel<512>'],
      ['ncclKernel_SendRecv(ncclDevComm*, unsigned long, ncclWork*)', 'ncclKernel_SendRecv'],
      ['PjitFunction(forward)', 'PjitFunction(forward)'],
      ['fusion.3', 'fusion.3'],
    ];
    for (const [name, short] of rows) expect(telling(name!)).toBe(short);
    expect([...spelledLabels(['PjitFunction(f)', 'void f<int>(int)']).keys()]).toEqual(['void f<int>(int)']);
  });
  test('a short beginning stays', () => {
    const labels = kernelLabels(['f<int, 1>(a)', 'f<int, 2>(a)']);
    expect([...labels.values()]).toEqual(['f<int, 1>', 'f<int, 2>']);
  });
});
