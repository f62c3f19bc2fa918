/* noisy_inputs.h - sizes behind sotto_train_noisy_inputs(). */
#ifndef TRAIN_PRIVATE_NOISY_INPUTS_H
#define TRAIN_PRIVATE_NOISY_INPUTS_H

enum { NOISY_INPUTS_TEXT = 448 };

#endif
