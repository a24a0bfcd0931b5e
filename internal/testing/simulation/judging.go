// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// showJudges shows the judges what has changed since it was called last. A process is
// another author to the judges of other kinds; nil is to all.
func (h *history) showJudges(by *Process) {
	type seen struct {
		resource string
		*change
	}
	var all []seen
	for resource, record := range h.records {
		for i := h.judged[resource]; i < len(record.changes); i++ {
			all = append(all, seen{resource, &record.changes[i]})
		}
		h.judged[resource] = len(record.changes)
	}
	slices.SortFunc(all, func(a, b seen) int { return cmp.Compare(a.version, b.version) })
	for _, s := range all {
		c := invariants.Change{At: s.at, Resource: s.resource}
		if s.before != nil {
			c.Before = s.before
		}
		if !s.gone {
			c.After = s.object
		}
		for _, k := range h.kinds {
			if c.By = ""; by != nil && by.kind == k {
				c.By = by.Name
			}
			if observed := c; k.judge.Observe != nil {
				k.judge.Observe(&observed)
			}
		}
	}
}

func (h *history) judgeWrite(r *request, position int) {
	c := &h.records[r.Resource].changes[position]
	objects := map[string]map[string]Object{}
	for resource, record := range h.records {
		objects[resource] = maps.Clone(record.objects)
	}
	key, workload := keyOfObject(c.object), r.process.kind.Resource.Name
	delete(objects[r.Resource], key)
	w := &invariants.Write{By: r.process.Name, Verb: r.Verb, Resource: r.Resource, Subresource: r.Subresource, Asked: r.preconditions(), Sent: r.Body, Refused: r.process.refused}
	if c.before != nil {
		objects[r.Resource][key] = c.before
		w.Before = c.before
	}
	if !c.gone {
		w.After = c.object
	}
	w.Truth = state(time.Now(), workload, objects)
	w.Truth.Created, w.Truth.Version, w.Truth.Undisturbed = h.records[pods].created, c.version-1, h.settled
	if known := r.process.known; known != nil {
		w.Known = state(known.at, workload, known.objects)
		w.Known.Version, w.Known.Asked, w.Known.Failed = known.version, known.asked, known.refused
		w.Known.Untold, w.Known.Expandable = known.untold, h.expandable()
		w.Known.EverFailed = r.process.everFailed
		w.Observed = state(known.at, workload, known.observed)
	}
	for _, k := range h.kinds {
		judge := k.judge.Witness
		if k == r.process.kind {
			judge = k.judge.Write
		}
		if judge == nil {
			continue
		}
		for _, v := range judge(w) {
			h.violate(v.Invariant, "%s: %s", r, v.Message)
		}
	}
	h.noteWriter(r.process, r.Resource, key)
	r.process.wrote(r.Resource, position)
}

// knowledge is what a process had to know: what its caches held when a reconcile
// looked, and what it has written itself since.
type knowledge struct {
	at       time.Time
	version  int64                        // of the API server when it looked
	asked    map[string]int64             // the same of when it asked about a pod since, by name
	refused  map[string]bool              // pods about which a request of the reconcile has failed, or a patch or deletion before it, by name
	untold   map[string]bool              // pods that the reconcile has created, and was told that it has not, by name
	observed map[string]map[string]Object // by resource and name
	objects  map[string]map[string]Object
}

type write struct {
	resource string
	position int // in the record of the resource
}

func (p *Process) look() *knowledge {
	k := &knowledge{at: time.Now(), version: p.history.version, asked: map[string]int64{}, refused: map[string]bool{}, untold: map[string]bool{}, observed: map[string]map[string]Object{}, objects: map[string]map[string]Object{}}
	maps.Copy(k.refused, p.passedOver)
	for resource, replica := range p.replicas {
		k.observed[resource] = replica.view()
		k.objects[resource] = maps.Clone(k.observed[resource])
	}
	for _, w := range p.own {
		if r := p.replicas[w.resource]; w.position >= r.at {
			k.learn(w.resource, &r.record.changes[w.position])
		}
	}
	return k
}

func (p *Process) wrote(resource string, position int) {
	p.own = append(p.own, write{resource, position})
	if p.known != nil {
		p.known.learn(resource, &p.replicas[resource].record.changes[position])
	}
}

// learn takes note of what a process is told about a request, before the answer, upon which its reconcile goes on.
func (h *history) learn(r *request, f fate) {
	if r.Verb == "get" && f == (fate{name: f.name}) && h.records[r.Resource].objects[r.key()] == nil {
		r.process.learnGone(r.Resource, r.key())
	}
	if apierrors.IsForbidden(f.before) {
		r.process.refused = append(r.process.refused, invariants.Refusal{Verb: r.Verb, Resource: r.Resource})
	}
	if known := r.process.known; known != nil && r.Resource == pods && f.before != nil {
		known.refused[r.Name] = true
	}
	if (r.Verb == "patch" || r.Verb == "delete") && r.Resource == pods && !r.DryRun {
		r.process.passOver(r.Name, f.before != nil || f.after != nil)
	}
}

// learnGone drops what the process wrote about an object: it has asked, and knows
// that the object is gone. What a cache has shown to its reconcile stays.
func (p *Process) learnGone(resource, key string) {
	if p.known != nil && p.known.observed[resource][key] == nil {
		delete(p.known.objects[resource], key)
	}
	p.own = slices.DeleteFunc(p.own, func(w write) bool {
		return w.resource == resource && keyOfObject(p.replicas[resource].record.changes[w.position].object) == key
	})
}

// learn adds what a write changed, and nothing that others had changed.
func (k *knowledge) learn(resource string, c *change) {
	key := keyOfObject(c.object)
	if c.gone {
		delete(k.objects[resource], key)
		return
	}
	object := c.object
	known, _ := k.objects[resource][key].(*corev1.Pod)
	if pod, ok := object.(*corev1.Pod); ok && known != nil && known.UID == pod.UID {
		object = learnPod(known, c.before.(*corev1.Pod), pod)
	}
	k.objects[resource][key] = object
}

// learnPod returns the pod that is known with what a write changed.
func learnPod(known, before, after *corev1.Pod) *corev1.Pod {
	pod := known.DeepCopy()
	pod.Labels = learnKeys(pod.Labels, before.Labels, after.Labels)
	pod.Annotations = learnKeys(pod.Annotations, before.Annotations, after.Annotations)
	if !equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences) {
		pod.OwnerReferences = after.OwnerReferences
	}
	if !equality.Semantic.DeepEqual(before.Finalizers, after.Finalizers) {
		pod.Finalizers = after.Finalizers
	}
	if before.DeletionTimestamp == nil {
		pod.DeletionTimestamp = after.DeletionTimestamp
	}
	if !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		pod.Spec = *after.Spec.DeepCopy()
	}
	for _, condition := range after.Status.Conditions {
		same := func(c corev1.PodCondition) bool { return c.Type == condition.Type }
		if i := slices.IndexFunc(before.Status.Conditions, same); i >= 0 && equality.Semantic.DeepEqual(before.Status.Conditions[i], condition) {
			continue
		}
		pod.Status.Conditions = append(slices.DeleteFunc(pod.Status.Conditions, same), condition)
	}
	return pod
}

// learnKeys returns the labels that are known with those that a write changed.
func learnKeys(known, before, after map[string]string) map[string]string {
	learned := maps.Clone(known)
	for key, value := range after {
		if before[key] != value {
			if learned == nil {
				learned = map[string]string{}
			}
			learned[key] = value
		}
	}
	for key := range before {
		if _, stays := after[key]; !stays {
			delete(learned, key)
		}
	}
	return learned
}

// state returns objects as invariants want them.
func state(at time.Time, workload string, objects map[string]map[string]Object) *invariants.State {
	s := &invariants.State{
		Now: at, Pods: typed[*corev1.Pod](objects[pods]), Claims: typed[*corev1.PersistentVolumeClaim](objects[claims]),
		Revisions: typed[*appsv1.ControllerRevision](objects[revisions]), Nodes: typed[*corev1.Node](objects[nodes]),
		Namespaces: typed[*corev1.Namespace](objects[namespaces]), Beside: map[string]invariants.Object{},
		Further: map[string]map[string]invariants.Object{},
	}
	for resource, all := range objects {
		if !builtIn[resource] {
			s.Further[resource] = typed[invariants.Object](all)
		}
		if object := objects[resource][Web.Name]; object != nil && resource != pods {
			s.Beside[resource] = object
		}
	}
	if object := objects[workload][Web.Name]; object != nil {
		s.Workload = object
	}
	return s
}

// builtIn are the resources that a state has fields for.
var builtIn = map[string]bool{pods: true, claims: true, revisions: true, nodes: true, namespaces: true}

func typed[T invariants.Object](objects map[string]Object) map[string]T {
	out := make(map[string]T, len(objects))
	for name, object := range objects {
		out[name] = object.(T)
	}
	return out
}

// truth returns the objects that there are, as a kind sees them.
func (h *history) truth(k *kind) *invariants.State {
	objects := map[string]map[string]Object{}
	for resource, record := range h.records {
		objects[resource] = maps.Clone(record.objects)
	}
	s := state(time.Now(), k.Resource.Name, objects)
	s.Refused, s.Expandable = h.refusals(), h.expandable()
	return s
}
