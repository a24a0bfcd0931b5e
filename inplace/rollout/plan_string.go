// SPDX-License-Identifier: Apache-2.0

package rollout

import "strings"

// String lists what the plan does and what waits, one decision a line. These are revisions,
// problems, claims, pods, waits with their reasons, images to pull ahead, and when
// to look again. An empty plan gives "no revision".
func (p Plan) String() string {
	var lines []string
	add := func(line string) {
		if line != "" {
			lines = append(lines, line)
		}
	}
	add(p.Revisions.String())
	for _, problem := range p.Problems {
		add(problem.String())
	}
	for _, claim := range p.CreateClaims {
		add("create claim " + claim.Name)
	}
	for _, claim := range p.PatchClaims {
		add(claim.String())
	}
	add(p.Stages.String())
	for _, wait := range p.Waiting {
		add(wait.Line())
	}
	add(p.PreDownload.String())
	if p.RequeueAfter > 0 {
		add("reconcile again in " + p.RequeueAfter.String())
	}
	return strings.Join(lines, "\n")
}

// String names the condition, if there is one, and says what is wrong, on one line.
func (p Problem) String() string {
	text := "problem"
	if p.Condition != "" {
		text += " " + p.Condition
	}
	if p.Err != nil {
		text += ": " + p.Err.Error()
	}
	return text
}

// String names the claim and its owners-to-be, on one line, as in
// "change owners of claim data-web-3: Pod web-3".
func (c ClaimPatch) String() string {
	text := "change owners of claim " + c.Claim.Name + ":"
	for _, owner := range c.Owners {
		text += " " + owner.Kind + " " + owner.Name
	}
	if len(c.Owners) == 0 {
		text += " none"
	}
	return text
}

// String lists the jobs to create and to delete, one a line, and why images are
// not pulled ahead. It is empty if there is nothing to do and to say.
func (d PreDownload) String() string {
	var lines []string
	for _, job := range d.Create {
		lines = append(lines, "create ImagePullJob "+job.Name+" for image "+job.Spec.Image)
	}
	for _, name := range d.Delete {
		lines = append(lines, "delete ImagePullJob "+name)
	}
	if d.Reason != "" {
		lines = append(lines, "no images are pulled ahead: "+d.Reason)
	}
	return strings.Join(lines, "\n")
}
