// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// resources are what the fake cluster has to know.
func resources() (sets, policies, bindings fakecluster.Resource) {
	sets = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("SidecarSet"), string(resourceSidecarSets))
	sets.ClusterScoped = true
	of := func(kind string, name podwright.Resource, object func() any) fakecluster.Resource {
		return fakecluster.Resource{GroupVersionKind: admissionregistrationv1.SchemeGroupVersion.WithKind(kind), Name: string(name), ClusterScoped: true, Generation: true, Type: object}
	}
	return sets, of("MutatingAdmissionPolicy", resourcePolicies, func() any { return &admissionregistrationv1.MutatingAdmissionPolicy{} }),
		of("MutatingAdmissionPolicyBinding", resourceBindings, func() any { return &admissionregistrationv1.MutatingAdmissionPolicyBinding{} })
}

// served is the discovery of an API server.
type served struct {
	discovery.ServerResourcesInterface
	resources []metav1.APIResource
	err       error
}

func (s served) ServerResourcesForGroupVersion(string) (*metav1.APIResourceList, error) {
	return &metav1.APIResourceList{APIResources: s.resources}, s.err
}

var withPolicies = served{resources: []metav1.APIResource{{Name: string(resourcePolicies)}}}

// cluster is a fake cluster in which the controller runs.
type cluster struct {
	*fixture.Cluster
	sets client.SidecarSetInterface
}

// play plays a scenario with the controller.
func play(t *testing.T, scenario func(*cluster), edits ...func(*Options)) {
	t.Helper()
	sets, policies, bindings := resources()
	c := &cluster{}
	fixture.Play(t, sets, func(f *fixture.Cluster) { c.Cluster = f }, func(t *testing.T) {
		c.sets = fixture.Connect(t, c.Server, fixture.TestUser, client.NewForConfig).SidecarSets()
		stop := fixture.StartNew(c.Cluster, New, Options{
			Kubernetes: c.Client(fixture.ControllerUser), Sidecar: fixture.Connect(t, c.Server, fixture.ControllerUser, client.NewForConfig),
			ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of}, Discovery: withPolicies,
		}, edits...)
		defer stop()
		scenario(c)
	}, policies, bindings)
}

// create creates a SidecarSet whose controller has observed it, with its revision.
func (c *cluster) create(set *v1alpha1.SidecarSet) *v1alpha1.SidecarSet {
	c.T.Helper()
	status := set.Status
	set, err := c.sets.Create(c.T.Context(), set, metav1.CreateOptions{})
	c.Must(err)
	set.Status = status
	return c.observed(set, 1)
}

// observed writes the revision of a SidecarSet and its status.
func (c *cluster) observed(set *v1alpha1.SidecarSet, number int) *v1alpha1.SidecarSet {
	c.T.Helper()
	revision := revisionOf(c.T, set, number)
	revision.Name = fmt.Sprintf("%s-%d", set.Name, number)
	_, err := c.Kube.AppsV1().ControllerRevisions(revision.Namespace).Create(c.T.Context(), revision, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		c.Must(err)
	}
	set.Status.LatestRevision, set.Status.ObservedGeneration = revision.Name, set.Generation
	set, err = c.sets.UpdateStatus(c.T.Context(), set, metav1.UpdateOptions{})
	c.Must(err)
	c.Sleep("1s")
	return set
}

// get reads a SidecarSet.
func (c *cluster) get(name string) *v1alpha1.SidecarSet {
	c.T.Helper()
	set, err := c.sets.Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return set
}

// update updates the spec of a SidecarSet.
func (c *cluster) update(set *v1alpha1.SidecarSet) *v1alpha1.SidecarSet {
	c.T.Helper()
	set, err := c.sets.Update(c.T.Context(), set, metav1.UpdateOptions{})
	c.Must(err)
	c.Sleep("1s")
	return set
}

// stands returns the revision whose policy stands and is bound; empty for none.
func (c *cluster) stands(name string) string {
	c.T.Helper()
	admission := c.Kube.AdmissionregistrationV1()
	p, err := admission.MutatingAdmissionPolicies().Get(c.T.Context(), policy.Name(name), metav1.GetOptions{})
	_, unbound := admission.MutatingAdmissionPolicyBindings().Get(c.T.Context(), policy.Name(name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) && apierrors.IsNotFound(unbound) {
		return ""
	}
	c.Must(err)
	c.Must(unbound)
	return p.Annotations[policy.RevisionAnnotation]
}

// expect checks which revision stands, and what was written since the last time, in turn.
func (c *cluster) expect(what, revision string, writes ...string) {
	c.T.Helper()
	var sent []string
	for _, r := range c.Requests(fixture.ControllerUser) {
		if !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
			sent = append(sent, r.String())
		}
	}
	if diff := cmp.Diff(writes, sent); diff != "" {
		c.T.Errorf("%s: writes:\n%s", what, diff)
	}
	if got := c.stands("log"); got != revision {
		c.T.Errorf("%s: the policy of revision %q stands, want %q", what, got, revision)
	}
	c.ForgetRequests()
}

// A SidecarSet from its creation to its end, and what it costs. (SPC-1 to SPC-5, SPC-7, SPC-9)
func TestController(t *testing.T) {
	play(t, func(c *cluster) {
		set := c.create(setOf(t, one))
		c.expect("created", "log-1", "create mutatingadmissionpolicies", "create mutatingadmissionpolicybindings")

		set.Status.MatchedPods, set.Status.UpdatedPods = 5, 3
		set, err := c.sets.UpdateStatus(t.Context(), set, metav1.UpdateOptions{})
		c.Must(err)
		c.Sleep("1s")
		c.expect("counted", "log-1")

		set.Spec.Containers[0].Image = "log:2"
		set = c.update(set)
		c.expect("another image that is not observed", "log-1")
		set = c.observed(set, 2)
		c.expect("another revision", "log-2", "update mutatingadmissionpolicies")

		set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{RevisionName: new("log-1")}
		set = c.update(set)
		c.expect("a revision by name", "log-1", "update mutatingadmissionpolicies")

		policies := c.Kube.AdmissionregistrationV1().MutatingAdmissionPolicies()
		_, err = policies.Patch(t.Context(), "sidecarset-log", types.MergePatchType, []byte(`{"spec":{"variables":null}}`), metav1.PatchOptions{})
		c.Must(err)
		c.Sleep("1s")
		c.expect("changed by a user", "log-1", "update mutatingadmissionpolicies")
		c.Must(policies.Delete(t.Context(), "sidecarset-log", metav1.DeleteOptions{}))
		c.Sleep("1s")
		c.expect("deleted by a user", "log-1", "create mutatingadmissionpolicies")

		set.Spec.InjectionStrategy.Paused = true
		set = c.update(set)
		c.expect("paused", "", "delete mutatingadmissionpolicybindings", "delete mutatingadmissionpolicies")
		set.Spec.InjectionStrategy.Paused = false
		c.update(set)
		c.expect("resumed", "log-1", "create mutatingadmissionpolicies", "create mutatingadmissionpolicybindings")

		c.Must(c.sets.Delete(t.Context(), "log", metav1.DeleteOptions{}))
		c.Sleep("1s")
		c.CollectGarbage()
		c.Sleep("1s")
		c.expect("deleted", "")
	})
}

// What cannot be compiled, and a name that is taken, are told once, and mended when the user
// mends them. (SPC-5 to SPC-7)
func TestControllerEvents(t *testing.T) {
	play(t, func(c *cluster) {
		policies := c.Kube.AdmissionregistrationV1().MutatingAdmissionPolicies()
		_, err := policies.Create(t.Context(), &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "sidecarset-log"}}, metav1.CreateOptions{})
		c.Must(err)
		set := c.create(setOf(t, one))
		c.expectEvents("Warning PolicyNameTaken: MutatingAdmissionPolicy sidecarset-log is there and SidecarSet log does not control it: delete it, and it is created anew")
		c.Must(policies.Delete(t.Context(), "sidecarset-log", metav1.DeleteOptions{}))
		c.Sleep("1s")
		c.expect("the name is free", "log-1", "create mutatingadmissionpolicies", "create mutatingadmissionpolicybindings")

		set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{RevisionName: new("log-9")}
		set = c.update(set)
		c.expectEvents("Warning FailedPolicy: its policy stays unchanged: spec.injectionStrategy.revision: there is no revision \"log-9\" of the SidecarSet; correct revisionName")
		c.expect("no such revision", "log-1")
		set.Spec.InjectionStrategy.Revision = nil
		set.Spec.PatchPodMetadata = []v1alpha1.SidecarSetPatchPodMetadata{{Annotations: map[string]string{"a": "{}"}, PatchPolicy: v1alpha1.SidecarSetMergePatchJSONPatchPolicy}}
		set = c.observed(c.update(set), 2)
		c.expectEvents("Warning FailedPolicy: no policy injects what it has: SidecarSet log: spec.patchPodMetadata[0]: a policy cannot merge JSON; use Retain or Overwrite, or have a webhook inject")
		c.expect("JSON to merge", "", "delete mutatingadmissionpolicybindings", "delete mutatingadmissionpolicies")
		set.Spec.PatchPodMetadata = nil
		c.observed(c.update(set), 3)
		c.expect("mended", "log-3", "create mutatingadmissionpolicies", "create mutatingadmissionpolicybindings")
		c.expectEvents()
	})
}

func (c *cluster) expectEvents(want ...string) {
	c.T.Helper()
	if diff := cmp.Diff(want, c.Events.All()); diff != "" {
		c.T.Errorf("events:\n%s", diff)
	}
	c.Events.Forget()
}

// Writes that fail, or whose answer is lost, are made in the end, and the policy is always
// there before its binding. (SPC-4)
func TestControllerFailures(t *testing.T) {
	for seed := range uint64(20) {
		play(t, func(c *cluster) {
			fail := fixture.Sometimes(seed)
			c.FailBefore(fail)
			c.FailAfter(fixture.Sometimes(seed + 1000))
			set := c.create(setOf(t, one))
			for number := 2; number < 6; number++ {
				set.Spec.Containers[0].Image = fmt.Sprint("log:", number)
				set = c.observed(c.update(set), number)
			}
			c.FailBefore(nil)
			c.FailAfter(nil)
			c.Sleep("10m")
			if got := c.stands("log"); got != "log-5" {
				t.Errorf("seed %d: the policy of revision %q stands", seed, got)
			}
		})
	}
}

// Without policies in the API server nothing is read or written. (SPC-8)
func TestControllerNotServed(t *testing.T) {
	for _, without := range []served{{}, {err: apierrors.NewNotFound(appsv1.Resource("x"), "x")}} {
		play(t, func(c *cluster) {
			c.create(setOf(t, one))
			for request, n := range c.Count(fixture.ControllerUser) {
				if request != "watch controllerrevisions" && request != "watch pods" && request != "watch persistentvolumeclaims" { // those of the fixture
					t.Errorf("%d requests to %s", n, request)
				}
			}
		}, func(o *Options) { o.Discovery = without })
	}
}

func TestOptions(t *testing.T) {
	c := fakecluster.New(nil)
	kube := fixture.Connect(t, c, "test", kubernetes.NewForConfig)
	sidecar := fixture.Connect(t, c, "test", client.NewForConfig)
	for _, o := range []Options{{}, {Kubernetes: kube}, {Kubernetes: kube, Sidecar: sidecar, FailurePolicy: "Perhaps"}, {Kubernetes: kube, Sidecar: sidecar, ControllerOptions: podwright.ControllerOptions{Workers: -1}}} {
		if _, err := New(o); err == nil {
			t.Errorf("no error of %+v", o)
		}
	}
	if _, err := NewReconciler(Options{Kubernetes: kube, Sidecar: sidecar}); err == nil {
		t.Error("no error without a Reader")
	}
}

// A controller that is stopped while it asks ends. (SPC-8)
func TestControllerStopped(t *testing.T) {
	play(t, func(c *cluster) { c.Sleep("5s") }, func(o *Options) { o.Discovery = served{err: errors.New("no answer")} })
}
