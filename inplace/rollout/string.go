// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// String names the pod, its revision and its claims, on one line, as in
// "create pod web-0 at revision web-6d4f with claims data-web-0". A pod that gets
// its name from the API server is named by what its name begins with.
func (c PodCreation) String() string {
	name := c.Pod.Name
	if name == "" {
		name = c.Pod.GenerateName + "*"
	}
	text := "create pod " + name
	if at := c.Pod.Labels[appsv1.ControllerRevisionHashLabelKey]; at != "" {
		text += " at revision " + at
	}
	for i, claim := range c.Claims {
		if i == 0 {
			text += " with claims"
		}
		text += " " + claim.Name
	}
	return text
}

// String names the pod and why it is deleted, on one line, as in
// "delete pod web-3 (Scale)", and the claims that go with it.
func (d PodDeletion) String() string {
	text := "delete pod " + d.Pod.Name + " (" + string(d.For) + ")"
	for i, claim := range d.DeleteClaims {
		if i == 0 {
			text += " and claims"
		}
		text += " " + claim.Name
	}
	return text
}

// String names the pod and what the patch is for, on one line, as in
// "patch pod web-3 (UpdateInPlace)". What changes is said by the String of Patch.
func (p PodPatch) String() string { return "patch pod " + p.Pod.Name + " (" + string(p.Kind) + ")" }

// String lists what is done, one pod a line; empty if nothing is.
func (s Stage) String() string {
	lines := make([]string, 0, len(s.Create)+len(s.Delete)+len(s.Patch))
	for _, c := range s.Create {
		lines = append(lines, c.String())
	}
	for _, d := range s.Delete {
		lines = append(lines, d.String())
	}
	for _, p := range s.Patch {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// String lists what is done at first, one pod a line. Below a line that says so
// it lists what is done if that comes to nothing.
func (s Stages) String() string {
	text := s.Stage.String()
	if s.Otherwise.Empty() {
		return text
	}
	return text + "\nif none of that succeeds:\n  " + strings.ReplaceAll(s.Otherwise.String(), "\n", "\n  ")
}
