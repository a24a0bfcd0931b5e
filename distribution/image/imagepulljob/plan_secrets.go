// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// How often the controller looks at a pull secret of a job: as a rule, and at the soonest
// if the copy is missing.
const (
	lookInterval    = 2 * time.Minute
	missingInterval = 10 * time.Second
)

// planSecrets has the pull secrets of a job copied, and copies that it does not need
// any more released. It tells whether it is known of each secret whether nodes can
// have it: until then no node gets the task. (IMG-1.6)
func (p *planner) planSecrets() (known bool) {
	known = true
	needed := map[types.NamespacedName]bool{}
	for _, name := range distinct(p.Job.Spec.PullSecrets) {
		source := types.NamespacedName{Namespace: p.Job.Namespace, Name: name}
		if problem := unfit(source); problem != "" {
			p.leaveOut(name, problem)
			continue
		}
		needed[source] = true
		look := p.Looks[name]
		if look.Problem != "" {
			p.leaveOut(name, look.Problem)
		}
		next := look.At.Add(lookInterval)
		if look.Problem == "" && p.copyOf(source) == nil {
			next = look.At.Add(missingInterval)
		}
		switch {
		case look.At.IsZero():
			known = false
			if look.Trying != "" {
				p.heldUp = append(p.heldUp, fmt.Sprintf("pull secret %s: %s", name, look.Trying))
			}
			p.plan.Copy = append(p.plan.Copy, name)
		case !next.After(p.Now):
			p.plan.Copy = append(p.plan.Copy, name)
			p.requeueAfter(lookInterval)
		default:
			p.requeueAfter(next.Sub(p.Now))
		}
	}
	if !known {
		p.requeueAfter(time.Millisecond) // what was found is in the next snapshot
	}
	for _, c := range p.Copies {
		if source, ok := images.CopySource(c); !ok || !needed[source] {
			p.plan.Release = append(p.plan.Release, c)
		}
	}
	return known
}

// copyOf returns the copy of a secret that the job refers to, nil if there is none.
func (p *planner) copyOf(source types.NamespacedName) *corev1.Secret {
	i := slices.IndexFunc(p.Copies, func(c *corev1.Secret) bool {
		of, ok := images.CopySource(c)
		return ok && of == source
	})
	if i < 0 {
		return nil
	}
	return p.Copies[i]
}

// unfit says why no secret of that name can be copied; empty if it can be.
func unfit(source types.NamespacedName) string {
	if len(validation.IsDNS1123Subdomain(source.Name)) > 0 {
		return "no secret can have that name"
	}
	if _, fits := images.CopyName(source); !fits {
		return "its name is too long to be copied: want at most 232 characters"
	}
	return ""
}

// leaveOut notes why nodes pull without a secret.
func (p *planner) leaveOut(name, why string) {
	p.leftOut = append(p.leftOut, fmt.Sprintf("pull secret %s is left out: %s", name, why))
}

// mostLeftOut is how many secrets a message names.
const mostLeftOut = 3

// withLeftOut adds to a message what holds up the job, and which secrets nodes pull without. (IMG-1.9)
func (p *planner) withLeftOut(message string) string {
	all := append(slices.Clone(p.heldUp), p.leftOut...)
	named := all[:min(len(all), mostLeftOut)]
	if more := len(all) - len(named); more > 0 {
		named = append(slices.Clone(named), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(append([]string{message}, named...), "; ")
}

// references returns the pull secrets of the job as tasks refer to them.
func (p *planner) references() (refs []v1alpha1.ReferenceObject) {
	for _, name := range p.Job.Spec.PullSecrets {
		source := types.NamespacedName{Namespace: p.Job.Namespace, Name: name}
		switch {
		case p.ReferToSourceSecrets:
			refs = append(refs, images.SecretReference(source))
		case unfit(source) == "":
			copied, _ := images.CopyName(source)
			refs = append(refs, v1alpha1.ReferenceObject{Namespace: v1alpha1.DaemonConfigNamespace, Name: copied})
		}
	}
	return refs
}

// withSecrets returns the references to secrets with those of the job. If the
// same secrets were referred to in the other way, they are no more. Those of other
// namespaces stay, also of secrets of the same name, and so do those of the mode batch. (IMG-1.4, IMG-1.16)
func (p *planner) withSecrets(refs []v1alpha1.ReferenceObject) []v1alpha1.ReferenceObject {
	own := p.references()
	has := func(refs []v1alpha1.ReferenceObject, ref v1alpha1.ReferenceObject) bool {
		return slices.ContainsFunc(refs, func(r v1alpha1.ReferenceObject) bool { return images.Referred(r) == images.Referred(ref) })
	}
	refs = slices.DeleteFunc(slices.Clone(refs), func(ref v1alpha1.ReferenceObject) bool {
		name, mine := images.ReferenceSource(ref, p.Job.Namespace)
		return mine && slices.Contains(p.Job.Spec.PullSecrets, name) && !has(own, ref) && ref.Mode != v1alpha1.PullSecretModeBatch
	})
	for _, ref := range own {
		if !has(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}
