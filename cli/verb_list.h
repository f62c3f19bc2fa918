/* One row per verb, in the order of `sotto help`. A verb exists only once it works. */
ROW(head)
ROW(sensitivity)
ROW(predict)
ROW(pretrain)
ROW(embed)
ROW(version)
ROW(data)
