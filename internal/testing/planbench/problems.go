// SPDX-License-Identifier: Apache-2.0

package planbench

import (
	"errors"

	"github.com/podwright/podwright/inplace/rollout"
)

// Problems joins the errors of a plan.
func Problems(all []rollout.Problem) error {
	var errs []error
	for _, problem := range all {
		errs = append(errs, problem.Err)
	}
	return errors.Join(errs...)
}
