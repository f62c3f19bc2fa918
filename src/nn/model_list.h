/* One row per model; the name is the file's: model_NAME.c holds model_NAME. */
ROW(cnn)
ROW(keras_simclr)
ROW(mlp)
ROW(resnet18)
ROW(resnet20)
ROW(resnet8)
ROW(tanh_cnn)
