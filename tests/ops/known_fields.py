"""What nodes show of what they saved otherwise than PyTorch's, and why: ``Node.field``, with ``+`` what the engine alone shows.

Each is listed under an entry whose samples show it; other entries with the node may show it too.
"""

FIELDS = {
    "only the shape of the tensor is kept, and the producer did not save it either": {
        "cholesky_solve": "CholeskySolveBackward0.self",
        "complex": "ComplexBackward0.imag ComplexBackward0.real",
        "div:floor_rounding": "DivBackward2.other DivBackward2.self",
        "native_layer_norm": "NativeLayerNormBackward0.bias",
        "nn.functional.cross_entropy": "NllLoss2DBackward0.self",
        "nn.functional.embedding_bag": "EmbeddingBagBackward0.weight",
        "quantile": "GatherBackward0.self",
        "stft": "FftR2CBackward0.self",
        "triangular_solve": "TriangularSolveBackward0.self",
    },
    "the gradient is computed without it, so that it is not kept": {
        "div:floor_rounding": "DivBackward2.rounding_mode",
        "linalg.householder_product": "LinalgHouseholderProductBackward0.result",
        "linalg.solve_triangular": "LinalgSolveTriangularBackward0.result",
        "lu_solve": "LinalgLuSolveBackward0.result",
        "masked_scatter": "MaskedScatterBackward0.source_sym_sizes",
        "matmul": "SqueezeBackward1.dim",
        "nn.functional.multilabel_margin_loss": "MultilabelMarginLossBackward0.is_target",
        "ormqr": "OrmqrBackward0.result",
        "squeeze:multiple": "SqueezeBackward2.dim",
        "squeeze_copy": "SqueezeBackward1_copy.dim",
        "stft": "SqueezeBackward4.dim",
    },
    "the gradient is computed from something else": {
        "masked.median": "NanmedianBackward1.indices",
        "nn.functional.ctc_loss": """
            CtcLossBackward0.+input_lengths CtcLossBackward0.+target_lengths
            CtcLossBackward0.input_lengths CtcLossBackward0.result1 CtcLossBackward0.target_lengths
            CtcLossBackward0.targets
            """,
        "nn.functional.embedding_bag": """
            EmbeddingBagBackward0.+at EmbeddingBagBackward0.+bags EmbeddingBagBackward0.indices
            EmbeddingBagBackward0.mode EmbeddingBagBackward0.offsets
            EmbeddingBagBackward0.padding_idx EmbeddingBagBackward0.per_sample_weights
            EmbeddingBagBackward0.result1 EmbeddingBagBackward0.result2
            EmbeddingBagBackward0.result3 EmbeddingBagBackward0.scale_grad_by_freq
            EmbeddingBagBackward0.sparse EmbeddingBagBackward0.weight_sym_argsize_0
            """,
        "nn.functional.linear_cross_entropy:chunked_none": "NllLoss2DBackward0.total_weight",
    },
    "a bias that needs no gradient leaves no trace": {
        "nn.functional.conv1d": "ConvolutionBackward0.bias_sym_sizes_opt",
    },
    "the factors of a batch of matrices are not kept": {
        "linalg.solve": "LinalgSolveExBackward0.LU LinalgSolveExBackward0.pivots",
    },
    "operands are cast to one dtype before they are saved, and given a dimension more where one is missing": {
        "cov": "DivBackward0.other MulBackward0.other",
        "nn.functional.multi_margin_loss": "MultiMarginLossBackward0.self MultiMarginLossBackward0.target",
        "nn.functional.multilabel_margin_loss": """
            MultilabelMarginLossBackward0.self MultilabelMarginLossBackward0.target
            """,
    },
    "NumPy gives empty arrays, and single rows, other strides": {
        "addmm": "AddmmBackward0.mat1_sym_strides AddmmBackward0.mat2_sym_strides",
        "mm": "MmBackward0.mat2_sym_strides MmBackward0.self_sym_strides",
    },
    "arguments are kept as they count, not as they were given": {
        "as_strided:partial_views": "AsStridedBackward0.storage_offset",
        "cross": "LinalgCrossBackward0.dim",
        "logsumexp": "LogsumexpBackward0.dim",
        "masked.norm": "LinalgVectorNormBackward0.dim",
        "masked.sum": "SumBackward1.dim",
        "nn.functional.avg_pool2d": "AvgPool2DBackward0.padding AvgPool2DBackward0.stride",
        "nn.functional.avg_pool3d": "AvgPool3DBackward0.stride",
        "nn.functional.conv3d": "ConvolutionBackward0.output_padding ConvolutionBackward0.padding",
        "nn.functional.max_pool2d": "MaxPool2DWithIndicesBackward0.stride",
        "roll": "RollBackward0.dims RollBackward0.shifts",
        "rot90": "Rot90Backward0.k",
        "trapz": "SliceBackward0.end",
    },
    "the op is made of others, or in another order": {
        "inner": "ViewBackward0.self_sym_sizes",
        "masked.normalize": "LinalgVectorNormBackward0.keepdim",
        "nn.functional.pad:circular": "SliceBackward0.dim SliceBackward0.self_sym_sizes SliceBackward0.start",
        "special.ndtr": "MulBackward1.other",
    },
}
