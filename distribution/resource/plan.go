// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/images"
)

// conflictRetry is how long an object that is no copy is left alone before it is looked
// for again: no event tells when it goes. (RD-10)
const conflictRetry = 5 * time.Minute

// What failed in a namespace, in OpenKruise's words.
var (
	errNamespaceMissing = errors.New("namespace not found or is terminating")
	errConflict         = errors.New("conflict with existing resources because of the same namespace, group, version, kind and name")
)

// Failure is something that failed in a namespace.
type Failure struct {
	// Namespace is the one that got no copy, or keeps a wrong one.
	Namespace string
	// Type is the condition that tells of it.
	Type v1alpha1.ResourceDistributionConditionType
	// Err is why; never nil.
	Err error
}

// Plan is what one reconcile of a ResourceDistribution does. A settled one is empty but
// for Targets.
type Plan struct {
	// Problems say why nothing is done; empty if something can be. (RD-11)
	Problems []rollout.Problem
	// Targets are the namespaces that are to have a copy, by name.
	Targets []string

	// Create are the copies that are missing, Update those that differ, at the version
	// that was observed, by namespace.
	Create, Update []Object
	// Replace are copies that cannot be changed: Delete goes before Create.
	Replace []Replacement
	// Delete are copies in other namespaces. (RD-9)
	Delete []*Copy
	// Failed are the namespaces in which nothing is tried, and those whose copies another writer contests.
	Failed []Failure
	// SourceMissing is why nothing is known of what is to be in the copies, nil if that is
	// known: then nothing is created or updated. (RD-17)
	SourceMissing error
	// RequeueAfter is when to look again although nothing happens; 0: no need to.
	RequeueAfter time.Duration

	heldSince    heldup.Since
	template     *template
	fingerprint  string // of its content
	distribution *v1alpha1.ResourceDistribution
}

// Replacement is a copy and what is to be in its place.
type Replacement struct {
	// Delete is the copy that stands, and Create what is created once it is gone.
	Delete *Copy
	Create Object
}

// NewPlan returns what is to be done about a ResourceDistribution. The same snapshot gives
// the same plan. A nil snapshot, or one without a ResourceDistribution, gives a Problem.
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Distribution == nil {
		return &Plan{Problems: rollout.ProblemsOf(errors.New("Snapshot.Distribution is nil: a plan is about a ResourceDistribution"))}
	}
	p := &Plan{distribution: s.Distribution, heldSince: s.HeldSince}
	if s.Distribution.DeletionTimestamp != nil {
		return p // the garbage collector deletes the copies (RD-12)
	}
	var targets *targets
	var err error
	if p.template, err = parseTemplate(s.Distribution.Spec.Resource.Raw); err != nil {
		p.Problems = rollout.ProblemsOf(fmt.Errorf("spec.resource: %w", err))
		return p
	}
	if err = p.findSource(s); err != nil {
		p.Problems = rollout.ProblemsOf(err)
		return p
	}
	p.fingerprint = p.template.content.fingerprint()
	if targets, err = parseTargets(&s.Distribution.Spec.Targets); err != nil {
		p.Problems = rollout.ProblemsOf(err)
		return p
	}
	matched, others := targets.namespaces(s.Namespaces)
	p.Targets = matched
	copies := p.copies(s.Copies)
	p.planMatched(s, copies)
	p.planOthers(s, copies, others)
	return p
}

// copies are those of the template, by namespace.
func (p *Plan) copies(all []*Copy) map[string]*Copy {
	copies := map[string]*Copy{}
	for _, c := range all {
		if c != nil && c.Kind == p.template.kind && c.Name == p.template.name && copyOf(c, p.distribution.Name) {
			copies[c.Namespace] = c
		}
	}
	return copies
}

// writableOf are the namespaces in which something can be created.
func writableOf(namespaces []*corev1.Namespace) map[string]bool {
	all := make(map[string]bool, len(namespaces))
	for _, namespace := range namespaces {
		all[namespace.Name] = writable(namespace)
	}
	return all
}

// planMatched plans the copies of the targets. (RD-4 to RD-8)
func (p *Plan) planMatched(s *Snapshot, copies map[string]*Copy) {
	there := writableOf(s.Namespaces)
	for _, namespace := range p.Targets {
		c, found := s.Conflicts[namespace]
		left := conflictRetry - s.Now.Sub(c)
		switch {
		case !there[namespace]:
			p.fail(namespace, v1alpha1.ResourceDistributionNamespaceNotExists, errNamespaceMissing)
		case p.isSource(namespace): // it is what it is to be
		case copies[namespace] != nil && copies[namespace].DeletionTimestamp != nil:
			p.fail(namespace, v1alpha1.ResourceDistributionCreateResourceFailed, terminatingError(copies[namespace]))
		case p.waits(s, namespace): // (RD-21)
		case copies[namespace] != nil:
			p.planCopy(copies[namespace])
		case p.SourceMissing != nil:
			p.fail(namespace, v1alpha1.ResourceDistributionSourceMissing, p.SourceMissing)
		case found && left > 0:
			p.fail(namespace, v1alpha1.ResourceDistributionConflictOccurred, errConflict)
			p.requeue(left)
		default:
			p.Create = append(p.Create, p.template.object(namespace, p.distribution))
		}
	}
}

// terminatingError says that a copy is about to go, and what holds it. Its end is an event. (RD-14)
func terminatingError(c *Copy) error {
	finalizers := c.Finalizers[:min(len(c.Finalizers), 5)]
	return fmt.Errorf("the copy is being deleted, and is created again when it is gone; its finalizers are %s", images.Cut(strings.Join(finalizers, ", "), 300))
}

// waits says that a copy is contested, and tells whether it is left alone now.
func (p *Plan) waits(s *Snapshot, namespace string) bool {
	contest, found := s.Contests[namespace]
	if !found {
		return false
	}
	if contest.Times > 2 {
		p.fail(namespace, v1alpha1.ResourceDistributionUpdateResourceFailed, contest.err())
		p.requeue(contest.Over.Sub(s.Now))
	}
	left := contest.Until.Sub(s.Now)
	if left > 0 {
		p.requeue(left)
	}
	return left > 0
}

// planCopy plans what becomes of a copy that is there. (RD-8, RD-17)
func (p *Plan) planCopy(c *Copy) {
	if p.SourceMissing != nil {
		return
	}
	switch p.compare(c) {
	case differentCopy:
		p.Update = append(p.Update, p.template.updated(c, p.distribution))
	case unchangeableCopy:
		p.Replace = append(p.Replace, Replacement{Delete: c, Create: p.template.object(c.Namespace, p.distribution)})
	case sameCopy, foreignCopy:
	}
}

// planOthers plans the deletion of copies in namespaces that are no targets. (RD-9)
func (p *Plan) planOthers(s *Snapshot, copies map[string]*Copy, others []string) {
	there := writableOf(s.Namespaces)
	for _, namespace := range others {
		if c := copies[namespace]; c != nil && there[namespace] && c.DeletionTimestamp == nil {
			p.Delete = append(p.Delete, c)
		}
	}
}

func (p *Plan) fail(namespace string, t v1alpha1.ResourceDistributionConditionType, err error) {
	p.Failed = append(p.Failed, Failure{namespace, t, err})
}

func (p *Plan) requeue(after time.Duration) {
	if p.RequeueAfter == 0 || after < p.RequeueAfter {
		p.RequeueAfter = after
	}
}

// difference is what an object of the name of the copies is, compared to the template.
type difference string

// What an object is.
const (
	// sameCopy: it is as the template has it, or about to go.
	sameCopy difference = "Same"
	// differentCopy: it is updated.
	differentCopy difference = "Different"
	// unchangeableCopy: it differs in what the API server lets no client change: the
	// type of a Secret, or anything in an object that is immutable. It is replaced.
	unchangeableCopy difference = "Unchangeable"
	// foreignCopy: it is no copy of this ResourceDistribution, and is left alone. (RD-7)
	foreignCopy difference = "Foreign"
)

// compare tells what an object is that has the kind and the name of the copies. (RD-7, RD-8)
func (p *Plan) compare(c *Copy) difference {
	switch {
	case !copyOf(c, p.distribution.Name):
		return foreignCopy
	case c.DeletionTimestamp != nil:
		return sameCopy // its end is an event
	}
	if c.fingerprint != p.fingerprint {
		if c.immutable || c.secretType != p.template.content.Type {
			return unchangeableCopy
		}
		return differentCopy
	}
	owner := slices.ContainsFunc(c.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == p.distribution.UID })
	if _, labelled := c.Labels[v1alpha1.ResourceCopyLabel]; !labelled || !owner {
		return differentCopy
	}
	return sameCopy
}

// String lists what the plan does, a line for each kind of action; "nothing" if it
// does nothing.
func (p *Plan) String() string {
	var lines []string
	add := func(what string, n int, namespace func(i int) string) {
		if n == 0 {
			return
		}
		names := make([]string, n)
		for i := range names {
			names[i] = namespace(i)
		}
		lines = append(lines, what+" in "+strings.Join(names, ", "))
	}
	for _, problem := range p.Problems {
		lines = append(lines, problem.String())
	}
	add("create", len(p.Create), func(i int) string { return p.Create[i].GetNamespace() })
	add("update", len(p.Update), func(i int) string { return p.Update[i].GetNamespace() })
	add("replace", len(p.Replace), func(i int) string { return p.Replace[i].Delete.Namespace })
	add("delete", len(p.Delete), func(i int) string { return p.Delete[i].Namespace })
	if p.SourceMissing != nil {
		lines = append(lines, p.SourceMissing.Error())
	}
	for _, f := range p.Failed {
		lines = append(lines, fmt.Sprintf("%s in %s: %v", f.Type, f.Namespace, f.Err))
	}
	if p.RequeueAfter > 0 {
		lines = append(lines, "again in "+p.RequeueAfter.String())
	}
	if len(lines) == 0 {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}
