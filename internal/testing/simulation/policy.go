// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// policy is what an administrator forbids for a while, as admission policies
// and quotas do. It refuses what the controller asks for, each time.
type policy struct {
	invariants.Refusal
	quota int // of pods that have not ended, for creations; 0: all are refused
	until time.Time
}

func (p *policy) String() string {
	if p.quota > 0 {
		return fmt.Sprintf("a quota of %d pods", p.quota)
	}
	return fmt.Sprintf("a policy against %s of %s", p.Verb, p.Resource)
}

var refusals = []invariants.Refusal{
	{Verb: "create", Resource: pods}, {Verb: "delete", Resource: pods}, {Verb: "patch", Resource: pods},
	{Verb: "create", Resource: claims}, {Verb: "delete", Resource: claims}, {Verb: "patch", Resource: claims},
	{Verb: "create", Resource: revisions},
}

// administrate sets a policy or a quota, in place of the one that there is, or takes it back.
func (h *history) administrate(r *rand.Rand) {
	refusals := refusals
	if h.workload.Refusals != nil {
		refusals = h.workload.Refusals
	}
	until := time.Now().Add([]time.Duration{5 * time.Second, time.Minute, 10 * time.Minute}[r.IntN(3)])
	switch n := r.IntN(8); {
	case n < 2:
		if len(h.policies) > 0 {
			h.say("admin: takes back what is forbidden")
		}
		h.policies = nil
		return
	case n < 5 && len(h.podList()) > 0:
		h.policies = []policy{{Refusal: invariants.Refusal{Verb: "create", Resource: pods}, quota: len(h.podList()), until: until}}
	default:
		h.policies = []policy{{Refusal: refusals[r.IntN(len(refusals))], until: until}}
	}
	h.say("admin: %s, until %s", &h.policies[0], until.UTC().Format("15:04:05"))
}

// refuse returns the answer to a request that a policy forbids, nil if none does.
func (h *history) refuse(r *request) error {
	if !h.policiesStay { // otherwise they end when they said
		h.policies = slices.DeleteFunc(h.policies, func(p policy) bool { return !time.Now().Before(p.until) })
	}
	for i := range h.policies {
		p := &h.policies[i]
		if p.Verb != r.Verb || p.Resource != r.Resource || p.quota > 0 && h.podsInUse() < p.quota {
			continue
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: r.Resource}, r.Name, errors.New("exceeded "+p.String()))
	}
	return nil
}

// lacksNamespace returns the answer to a creation in a namespace that does not exist or is terminating. Namespaces come
// and go if they are a Further resource.
func (h *history) lacksNamespace(r *request) error {
	all := h.records[namespaces]
	if all == nil || h.workload.Namespaces || r.Verb != "create" || r.Namespace == "" {
		return nil
	}
	switch namespace := all.objects[r.Namespace]; {
	case namespace == nil:
		return apierrors.NewNotFound(corev1.Resource(namespaces), r.Namespace)
	case namespace.GetDeletionTimestamp() != nil:
		err := apierrors.NewForbidden(corev1.Resource(r.Resource), r.object(), fmt.Errorf("namespace %s is being terminated", r.Namespace))
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
		return err
	}
	return nil
}

func (h *history) podsInUse() (n int) {
	for _, pod := range h.podList() {
		if !ended(pod) {
			n++
		}
	}
	return n
}

func (h *history) refusals() (all []invariants.Refusal) {
	for i := range h.policies {
		all = append(all, h.policies[i].Refusal)
	}
	return all
}
