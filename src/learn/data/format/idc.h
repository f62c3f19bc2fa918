/* idc.h - patches of breast tissue (IDC): PATIENT/CLASS/PATIENT_idx5_xX_yY_classCLASS.png, 50x50, wherever
 * in a folder or archive they lie. */
#ifndef DATA_FORMAT_IDC_H
#define DATA_FORMAT_IDC_H

#include "data/files/image_paths.h"

struct idc_name {
    unsigned long patient, x, y;
    int label; /* 1: invasive ductal carcinoma */
};
/** Reads the last component of a path. false: not such a name. */
bool idc_name_read(struct idc_name *out, const char *path);
/** All patches of a bundle in the set's order, each once: patients shuffled by their number (the same
 * everywhere) and never divided; the first share of the records is for training, as large as the paper's
 * (39,952 of 277,524). *twice: files left out because another holds the same place. EFORMAT: an image of
 * another name, or a name that contradicts its folder; names it. Free with images_clear(). */
sotto_status idc_list(struct image_list *out, size_t *twice, const struct bundle *b);

#endif
