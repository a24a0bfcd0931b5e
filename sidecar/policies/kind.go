// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The caches that a Reconciler writes to, and so waits for.
const (
	resourcePolicies podwright.Resource = "mutatingadmissionpolicies"
	resourceBindings podwright.Resource = "mutatingadmissionpolicybindings"
)

const resourceSidecarSets podwright.Resource = "sidecarsets" // which it only reads

// policyFields are those that a plan reads of policies and bindings.
const policyFields = controller.Owners | controller.Annotations | controller.Generation

// bySet is the index of revisions by their SidecarSet.
var bySet = caches.ByLabel(v1alpha1.SidecarSetNameLabel)

// reads lists what the plan for a SidecarSet depends on.
func (o *Options) reads() []controller.Read {
	admission := o.Kubernetes.AdmissionregistrationV1()
	return []controller.Read{
		{Resource: resourceSidecarSets, Object: &v1alpha1.SidecarSet{}, Informer: &o.SidecarSets, MakeInformer: func() cache.SharedIndexInformer {
			return client.NewSidecarSetInformer(o.Sidecar, 0, cache.Indexers{})
		}, Fields: controller.Generation | controller.Status, Concern: controller.On(setChanged)},
		{Resource: caches.Revisions, Object: &appsv1.ControllerRevision{}, IsPartial: true, Informer: &o.Revisions, MakeInformer: caches.NewInformers(o.Kubernetes, o.namespace()).Revisions,
			Indexes: []podwright.Index{bySet}, Fields: controller.Labels | controller.RevisionData, Concern: controller.EachOf(setOfRevision)},
		{Resource: resourcePolicies, Object: &admissionregistrationv1.MutatingAdmissionPolicy{}, LiveReader: apiwriter.TypedCluster(admission.MutatingAdmissionPolicies), Informer: &o.Policies,
			MakeInformer: func() cache.SharedIndexInformer {
				return typedclient.NewInformer(admission.MutatingAdmissionPolicies(), o.Kubernetes, &admissionregistrationv1.MutatingAdmissionPolicy{}, 0, nil)
			},
			Fields: policyFields, Concern: controller.EachOf(setsOfName)},
		{Resource: resourceBindings, Object: &admissionregistrationv1.MutatingAdmissionPolicyBinding{}, LiveReader: apiwriter.TypedCluster(admission.MutatingAdmissionPolicyBindings), Informer: &o.Bindings,
			MakeInformer: func() cache.SharedIndexInformer {
				return typedclient.NewInformer(admission.MutatingAdmissionPolicyBindings(), o.Kubernetes, &admissionregistrationv1.MutatingAdmissionPolicyBinding{}, 0, nil)
			},
			Fields: policyFields, Concern: controller.EachOf(setsOfName)},
	}
}

// setChanged enqueues a SidecarSet. The counters of its status concern no plan. (SPC-9)
func setChanged(before, after *v1alpha1.SidecarSet, enqueue controller.Enqueue) {
	set := cmp.Or(after, before)
	if before != nil && after != nil && before.UID == after.UID && before.Generation == after.Generation && (before.DeletionTimestamp == nil) == (after.DeletionTimestamp == nil) &&
		before.Status.LatestRevision == after.Status.LatestRevision && before.Status.ObservedGeneration == after.Status.ObservedGeneration {
		return
	}
	enqueue(types.NamespacedName{Name: set.Name})
}

// setOfRevision is the SidecarSet that a revision is of.
func setOfRevision(revision metav1.Object) []types.NamespacedName {
	if name := revision.GetLabels()[v1alpha1.SidecarSetNameLabel]; name != "" {
		return []types.NamespacedName{{Name: name}}
	}
	return nil
}

// setsOfName are the SidecarSets whose policy or binding this may be, by its owner and by its
// name. So another owner's is noticed when it goes.
func setsOfName(object metav1.Object) (keys []types.NamespacedName) {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil && owner.Kind == "SidecarSet" {
		keys = append(keys, types.NamespacedName{Name: owner.Name})
	}
	if name, found := strings.CutPrefix(object.GetName(), policy.Name("")); found && (len(keys) == 0 || keys[0].Name != name) {
		keys = append(keys, types.NamespacedName{Name: name})
	}
	return keys
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer

	deletedPolicies, deletedBindings apiwriter.Last[types.UID] // the last ones
}

// kind describes SidecarSets to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name: component, Run: o.run,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: func(s *Snapshot, resource podwright.Resource) func(string) bool {
			if resource == resourcePolicies && s.Policy == nil || resource == resourceBindings && s.Binding == nil {
				return controller.HoldsNone
			}
			return controller.HoldsAll
		},
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.deletedPolicies.Forget(key)
	r.deletedBindings.Forget(key)
}

// observe reads everything that a plan for the SidecarSet depends on. It returns nil
// when the SidecarSet does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	reader := r.options.Reader
	set, err := caches.Object[v1alpha1.SidecarSet](reader, resourceSidecarSets, "SidecarSet", key)
	if set == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{SidecarSet: set, FailurePolicy: r.options.FailurePolicy, Webhook: r.options.Webhook, Injection: r.options.Injection}
	if s.Revisions, err = caches.Labelled[*appsv1.ControllerRevision](reader, caches.Revisions, r.options.namespace(), bySet, key.Name); err != nil {
		return nil, fmt.Errorf("read the revisions of SidecarSet %s: %w", key.Name, err)
	}
	name := policy.Name(key.Name)
	if s.Policy, err = apiwriter.Found(caches.Get[*admissionregistrationv1.MutatingAdmissionPolicy](reader, resourcePolicies, "", name)); err != nil {
		return nil, fmt.Errorf("read MutatingAdmissionPolicy %s: %w", name, err)
	}
	if s.Binding, err = apiwriter.Found(caches.Get[*admissionregistrationv1.MutatingAdmissionPolicyBinding](reader, resourceBindings, "", name)); err != nil {
		return nil, fmt.Errorf("read MutatingAdmissionPolicyBinding %s: %w", name, err)
	}
	return s, nil
}
