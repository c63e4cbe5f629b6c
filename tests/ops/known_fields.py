"""What nodes show of what they saved otherwise than PyTorch's, and why: ``Node.field``, with ``+`` what the engine alone shows."""

KNOWN = {
    "only the shape of the tensor is kept, and the producer did not save it either": """
        CholeskySolveBackward0.self ComplexBackward0.imag ComplexBackward0.real DivBackward2.other DivBackward2.self
        EmbeddingBagBackward0.weight FftR2CBackward0.self GatherBackward0.self NativeLayerNormBackward0.bias
        NllLoss2DBackward0.self TriangularSolveBackward0.self
        """,
    "the gradient is computed without it, so that it is not kept": """
        DivBackward2.rounding_mode LinalgHouseholderProductBackward0.result LinalgLuSolveBackward0.result
        LinalgSolveTriangularBackward0.result MaskedScatterBackward0.source_sym_sizes
        MultilabelMarginLossBackward0.is_target OrmqrBackward0.result SqueezeBackward1.dim SqueezeBackward1_copy.dim
        SqueezeBackward2.dim SqueezeBackward4.dim
        """,
    "the gradient is computed from something else": """
        CtcLossBackward0.+input_lengths CtcLossBackward0.+target_lengths CtcLossBackward0.input_lengths
        CtcLossBackward0.result1 CtcLossBackward0.target_lengths CtcLossBackward0.targets EmbeddingBagBackward0.+at
        EmbeddingBagBackward0.+bags EmbeddingBagBackward0.indices EmbeddingBagBackward0.mode
        EmbeddingBagBackward0.offsets EmbeddingBagBackward0.padding_idx EmbeddingBagBackward0.per_sample_weights
        EmbeddingBagBackward0.result1 EmbeddingBagBackward0.result2 EmbeddingBagBackward0.result3
        EmbeddingBagBackward0.scale_grad_by_freq EmbeddingBagBackward0.sparse
        EmbeddingBagBackward0.weight_sym_argsize_0 NanmedianBackward1.indices NllLoss2DBackward0.total_weight
        """,
    "a bias that needs no gradient leaves no trace": "ConvolutionBackward0.bias_sym_sizes_opt",
    "the factors of a batch of matrices are not kept": "LinalgSolveExBackward0.LU LinalgSolveExBackward0.pivots",
    "operands are cast to one dtype before they are saved, and given a dimension more where one is missing": """
        DivBackward0.other MulBackward0.other MultiMarginLossBackward0.self MultiMarginLossBackward0.target
        MultilabelMarginLossBackward0.self MultilabelMarginLossBackward0.target
        """,
    "NumPy gives empty arrays, and single rows, other strides": """
        AddmmBackward0.mat1_sym_strides AddmmBackward0.mat2_sym_strides MmBackward0.mat2_sym_strides
        MmBackward0.self_sym_strides
        """,
    "arguments are kept as they count, not as they were given": """
        AsStridedBackward0.storage_offset AvgPool2DBackward0.padding AvgPool2DBackward0.stride
        AvgPool3DBackward0.stride ConvolutionBackward0.output_padding ConvolutionBackward0.padding
        LinalgCrossBackward0.dim LinalgVectorNormBackward0.dim LogsumexpBackward0.dim
        MaxPool2DWithIndicesBackward0.stride MaxPool3DWithIndicesBackward0.stride RollBackward0.dims
        RollBackward0.shifts Rot90Backward0.k SliceBackward0.end SumBackward1.dim
        """,
    "the op is made of others, or in another order": """
        LinalgVectorNormBackward0.keepdim MulBackward1.other SliceBackward0.dim SliceBackward0.self_sym_sizes
        SliceBackward0.start ViewBackward0.self_sym_sizes
        """,
}
