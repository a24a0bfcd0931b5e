// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
)

// TestSimulation has users change a ResourceDistribution, its copies and namespaces at random, amid everything that can go
// wrong, and judges each write of the controller. A model plays the controller of namespaces.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(&spoil{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(&spoil{}), 1)
}

const secrets, allNamespaces = "secrets", "namespaces"

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.ResourceDistribution]{Create: ValidateCreate, Update: ValidateUpdate,
		Elsewhere: map[string]string{"sourceRef.namespace": "TestReviewSource", "sourceRef.name": "TestPlans"}}, simulated(&spoil{}))
}

// simulated is what a simulation needs to know of ResourceDistributions, whose controller has a bug.
func simulated(bug *spoil) *simulation.Subject {
	empty := map[string]func() simulation.Object{
		secrets: func() simulation.Object { return &corev1.Secret{} }, allNamespaces: func() simulation.Object { return &corev1.Namespace{} },
		string(resourceConfigMaps): func() simulation.Object { return &corev1.ConfigMap{} },
	}
	w := &simulation.Subject{
		Resource: distributionResource,
		Empty:    func() simulation.Object { return &v1alpha1.ResourceDistribution{} },
		Create:   func(r *rand.Rand) simulation.Object { return anyDistribution(r) },
		Start:    func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, bug) },
		Refusals: []invariants.Refusal{{Verb: "create", Resource: secrets}, {Verb: "update", Resource: secrets}, {Verb: "delete", Resource: secrets}},
		Populate: populate,
		Others:   func(u *simulation.User, _ *rand.Rand) { endNamespaces(u) },
		Release:  endNamespaces,
		Act:      bug.Act(act),
		Push:     push,
		Ignores:  []string{string(caches.Claims), string(caches.Revisions), string(caches.Pods)},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: invariants.ResourceDistribution, Settled: invariants.ResourceDistributionSettled}
		},
	}
	for _, resource := range more {
		w.Further = append(w.Further, simulation.Further{Resource: resource, Empty: empty[resource.Name]})
	}
	return w
}

// labelledOnly is a Reader that shows no Secrets without the label: an informer has none.
type labelledOnly struct{ podwright.Reader }

func (r labelledOnly) ByIndex(resource podwright.Resource, namespace string, index podwright.Index, key string) ([]any, error) {
	all, err := r.Reader.ByIndex(resource, namespace, index, key)
	return slices.DeleteFunc(all, func(object any) bool {
		_, is := object.(metav1.Object).GetLabels()[v1alpha1.ResourceCopyLabel]
		return !is
	}), err
}

func startSimulated(p *simulation.Process, bug *spoil) (simulation.Controller, error) {
	r, err := bug.Start(p, func(p *simulation.Process) (o Options, err error) {
		read := planted.Read(p, resourceDistributions, resourceSecrets, resourceConfigMaps, resourceNamespaces)
		read.Reader = labelledOnly{read.Reader}
		o.Reader = read
		if o.Kubernetes, err = p.Kubernetes(); err == nil {
			o.Distribution, err = client.NewForConfig(p.Config)
		}
		return o, err
	}, NewReconciler)
	if err != nil {
		return simulation.Controller{}, err
	}
	key := types.NamespacedName{Name: simulation.Web.Name}
	return simulation.Controller{
		Reconcile: func(ctx context.Context, _ types.NamespacedName) (time.Duration, error) { return r.Reconcile(ctx, key) },
		Unfinished: func() (string, error) {
			plan, err := r.Plan(context.Background(), key)
			if plan == nil || err != nil || len(plan.Create)+len(plan.Update)+len(plan.Replace)+len(plan.Delete) == 0 && plan.Status(plan.Failed, time.Now()) == nil {
				return "", err
			}
			return plan.String(), rollout.ErrorOf(plan.Problems)
		},
	}, nil
}

// someNames are the namespaces that may exist.
var someNames = []string{"ns-1", "ns-2", "ns-3", "ns-4", "kube-system"}

func anyName(r *rand.Rand) string { return someNames[r.IntN(len(someNames))] }

// createNamespace creates a namespace, which goes only when the controller of namespaces lets it.
func createNamespace(u *simulation.User, name string, r *rand.Rand) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"example.com/namespace"}}}
	if r.IntN(2) == 0 {
		namespace.Labels = map[string]string{"group": "a"}
	}
	u.CreateObject(allNamespaces, namespace)
}

func populate(u *simulation.User, r *rand.Rand) {
	for i := range 2 + r.IntN(4) {
		createNamespace(u, someNames[i%len(someNames)], r)
	}
}

// endNamespaces has a model of the controller of namespaces delete what is in those that are being deleted, and then them.
func endNamespaces(u *simulation.User) {
	for _, namespace := range u.Objects(allNamespaces) {
		if namespace.GetDeletionTimestamp() == nil {
			continue
		}
		empty := true
		for _, secret := range u.Objects(secrets) {
			if secret.GetNamespace() == namespace.GetName() {
				empty = false
				u.DeleteObject(secrets, namespace.GetName()+"/"+secret.GetName(), metav1.DeletePropagationBackground)
			}
		}
		if empty {
			u.Patch(allNamespaces, namespace.GetName(), `{"metadata":{"finalizers":null}}`)
		}
	}
}

// anyDistribution is the ResourceDistribution of a seed.
func anyDistribution(r *rand.Rand) *v1alpha1.ResourceDistribution {
	d := &v1alpha1.ResourceDistribution{}
	d.Spec.Resource.Raw = []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"pull","labels":{"team":"a"}},"type":"Opaque","data":{"key":"dmFsdWU="}}`)
	d.Spec.Targets.AllNamespaces = r.IntN(2) == 0
	for range r.IntN(4) {
		simulation.Merge(d, simulation.AnyEdit(r, edits))
	}
	return d
}

// edits are what users change about a ResourceDistribution, and drift what others change about Secrets and their metadata, also to take copies
// for themselves.
var edits, drift = simulation.ReadEdits("edits"), simulation.ReadEdits("drift")

// act is what users do in a step, to the ResourceDistribution, to namespaces or to Secrets.
func act(u *simulation.User, r *rand.Rand) {
	name, secret := anyName(r), u.AnyObject(secrets, r)
	switch n := r.IntN(16); {
	case n < 4:
		u.Edit(simulation.AnyEdit(r, edits))
	case n < 6:
		createNamespace(u, name, r)
	case n == 6:
		u.Patch(allNamespaces, name, simulation.Pick(`{"metadata":{"labels":{"group":%v}}}`, `"a"`, "null")(r))
	case n == 7:
		u.DeleteObject(allNamespaces, name, metav1.DeletePropagationBackground)
	case n < 10 || secret == nil:
		u.CreateObject(secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "pull"}, Data: map[string][]byte{"key": []byte("mine")}})
	case n < 12:
		u.DeleteObject(secrets, pathOf(secret), metav1.DeletePropagationBackground)
	default:
		u.Patch(secrets, pathOf(secret), simulation.AnyEdit(r, drift))
	}
}

// pathOf names an object of any namespace.
func pathOf(object simulation.Object) string { return object.GetNamespace() + "/" + object.GetName() }

// push is all that users do in the end: the ResourceDistribution is for all, and nothing of others is in the way. That is what
// no ResourceDistribution controls, which only its owner may remove (RD-7). Copies stay, those of one that is gone as well.
func push(u *simulation.User) {
	for _, secret := range u.Objects(secrets) {
		if owner := metav1.GetControllerOfNoCopy(secret); owner == nil || owner.Kind != "ResourceDistribution" {
			u.DeleteObject(secrets, pathOf(secret), metav1.DeletePropagationBackground)
		}
	}
	u.Edit(`{"spec":{"resource":{"data":{"key":"bGFzdA=="}},"targets":{"allNamespaces":true,"excludedNamespaces":null,"includedNamespaces":null}}}`)
}
