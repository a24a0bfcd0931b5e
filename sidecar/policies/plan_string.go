// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// String says what the plan does, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	add := func(is bool, what string, object metav1.Object) {
		if is {
			lines = append(lines, what+" "+object.GetName())
		}
	}
	add(p.CreatePolicy != nil, "create policy", p.CreatePolicy)
	add(p.UpdatePolicy != nil, "update policy", p.UpdatePolicy)
	add(p.CreateBinding != nil, "create binding", p.CreateBinding)
	add(p.UpdateBinding != nil, "update binding", p.UpdateBinding)
	add(p.DeleteBinding != nil, "delete binding", p.DeleteBinding)
	add(p.DeletePolicy != nil, "delete policy", p.DeletePolicy)
	if p.Skipped != "" {
		lines = append(lines, "no policy: "+p.Skipped)
	}
	for _, wait := range p.Waiting {
		lines = append(lines, wait.Line())
	}
	for _, err := range p.problems() {
		lines = append(lines, "problem: "+err.Error())
	}
	return strings.Join(lines, "\n")
}

// problems lists what is wrong.
func (p *Plan) problems() (all []error) {
	for _, err := range append([]error{rollout.ErrorOf(p.Problems), p.Uncompiled, p.Unrestored}, p.Taken...) {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}
