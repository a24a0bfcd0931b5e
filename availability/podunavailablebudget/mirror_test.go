// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var asksForMirror = annotated(v1alpha1.PodDisruptionBudgetAnnotation, "true")

func mirroring(o *Options) { o.Mirror = MirrorAnnotated }

// disruptionBudget returns the PodDisruptionBudget of that name; nil for none.
func (c *cluster) disruptionBudget(name string) *policyv1.PodDisruptionBudget {
	c.T.Helper()
	d, err := c.Kube.PolicyV1().PodDisruptionBudgets("default").Get(c.T.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.Must(err)
	return d
}

// expectMirror waits a second, and shows the PodDisruptionBudget of the name, and the events and writes since the last time.
func (c *cluster) expectMirror(what, name, want string, more ...string) {
	c.T.Helper()
	c.Sleep("1s")
	got := "none"
	if d := c.disruptionBudget(name); d != nil {
		got = fmt.Sprint(d.Spec.MinAvailable, " of ", metav1.FormatLabelSelector(d.Spec.Selector))
		if ref := metav1.GetControllerOf(d); ref != nil {
			got += " owned by " + ref.Name
		}
	}
	if got != want {
		c.T.Errorf("PUB-30: %s: got %q, want %q", what, got, want)
	}
	var events []string
	for _, e := range append(c.Events.All(), c.Sent()...) {
		if strings.Contains(e, "NotMirrored") || strings.Contains(e, "poddisruptionbudgets") && !strings.Contains(e, " get ") {
			events = append(events, e)
		}
	}
	if diff := cmp.Diff(more, events); diff != "" {
		c.T.Errorf("PUB-30: %s (-want +got):\n%s", what, diff)
	}
	c.Events.Forget()
	c.ForgetRequests()
}

// annotate changes an annotation of the budget web; empty takes it away.
func (c *cluster) annotate(key, value string) {
	c.T.Helper()
	json := "null"
	if value != "" {
		json = fmt.Sprintf("%q", value)
	}
	_, err := c.budgets.PodUnavailableBudgets("default").Patch(c.T.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+key+`":`+json+`}}}`), metav1.PatchOptions{})
	c.Must(err)
}

func (c *cluster) patchDisruptionBudget(name, patch string, subresources ...string) {
	c.T.Helper()
	_, err := c.Kube.PolicyV1().PodDisruptionBudgets("default").Patch(c.T.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	c.Must(err)
}

func (c *cluster) deleteDisruptionBudget(name string) {
	c.T.Helper()
	c.Must(c.Kube.PolicyV1().PodDisruptionBudgets("default").Delete(c.T.Context(), name, metav1.DeleteOptions{}))
}

func (c *cluster) createDisruptionBudget(name, app string) {
	c.T.Helper()
	_, err := c.Kube.PolicyV1().PodDisruptionBudgets("default").Create(c.T.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}, metav1.CreateOptions{})
	c.Must(err)
}

const (
	created = "1 create poddisruptionbudgets"
	patched = "1 patch poddisruptionbudgets"
	deleted = "1 delete poddisruptionbudgets"
)

// A mirror follows its budget, and is put right again; once settled it costs nothing.
func TestMirror(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start(mirroring)
		c.cloneSet(3)
		c.webPods("a", "b", "c")
		c.createBudget(newBudget("web", "1"))
		c.expectMirror("it does not ask for one", "web", "none")
		c.annotate(v1alpha1.PodDisruptionBudgetAnnotation, "true")
		c.expectMirror("it asks for one", "web", "2 of app=web owned by web", created)
		c.scale(webPath, 10)
		c.expectMirror("scaled", "web", "9 of app=web owned by web", patched)
		c.scale(webPath, 3)
		c.expectMirror("and back", "web", "2 of app=web owned by web", patched)
		before := reconciles.Count()
		c.patchDisruptionBudget("web", `{"status":{"disruptionsAllowed":1,"currentHealthy":3}}`, "status")
		c.Sleep("1h")
		c.expectMirror("settled", "web", "2 of app=web owned by web")
		if n := reconciles.Count() - before; n > 0 {
			t.Errorf("PUB-30: %d reconciles for the status of a PodDisruptionBudget", n)
		}
		c.patchDisruptionBudget("web", `{"metadata":{"annotations":{"mine":"stays"}},"spec":{"minAvailable":null,"maxUnavailable":0,"selector":{"matchLabels":{"more":"x"}}}}`)
		c.expectMirror("somebody changes it", "web", "2 of app=web owned by web", patched)
		if d := c.disruptionBudget("web"); d.Annotations["mine"] != "stays" || d.Spec.MaxUnavailable != nil {
			t.Errorf("PUB-30: %+v", d)
		}
		c.deleteDisruptionBudget("web")
		c.expectMirror("somebody deletes it", "web", "2 of app=web owned by web", created)
		c.annotate(v1alpha1.PubProtectOperationAnnotation, "DELETE")
		c.expectMirror("evictions are not its affair", "web", "none", deleted)
		c.annotate(v1alpha1.PubProtectOperationAnnotation, "")
		c.expectMirror("now they are", "web", "2 of app=web owned by web", created)
		c.scale(webPath, 0)
		c.expectMirror("scaled to 0", "web", "none", deleted)
		c.scale(webPath, 3)
		c.expectMirror("scaled up", "web", "2 of app=web owned by web", created)
		c.PatchPod("a", `{"metadata":{"annotations":{"pub.kruise.io/no-protect":"true"}}}`)
		c.expectMirror("a pod may always be evicted", "web", "none",
			"Warning NotMirrored: No PodDisruptionBudget shows it: pod a has the annotation pub.kruise.io/no-protect", deleted)
		c.PatchPod("a", `{"metadata":{"annotations":{"pub.kruise.io/no-protect":null}}}`)
		c.expectMirror("not any more", "web", "2 of app=web owned by web", created)
		c.pod("stranger", noOwner)
		c.expectMirror("a pod beside those of the workload", "web", "none",
			"Warning NotMirrored: No PodDisruptionBudget shows it: the selector selects pod stranger, which the budget does not protect", deleted)
		c.RemovePod("stranger")
		c.expectMirror("which goes", "web", "2 of app=web owned by web", created)
		c.annotate(v1alpha1.PodDisruptionBudgetAnnotation, "")
		c.expectMirror("it asks no more", "web", "none", deleted)
		c.annotate(v1alpha1.PodDisruptionBudgetAnnotation, "true")
		c.expectMirror("it asks again", "web", "2 of app=web owned by web", created)
		if errs := reconciles.Errors(); len(errs) > 0 {
			t.Errorf("%v", errs)
		}
		stop()
		_, stop = c.start()
		c.expectMirror("nobody keeps it", "web", "2 of app=web owned by web")
		stop()
		_, stop = c.start(func(o *Options) { o.Mirror = MirrorRemove })
		defer stop()
		c.expectMirror("switched off", "web", "none", deleted)
		c.Sleep("1h")
		c.expectMirror("and settled", "web", "none")
	})
}

// What belongs to another owner is left alone, and of two PodDisruptionBudgets of a pod one yields. (PUB-32)
func TestMirrorYields(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start(mirroring)
		defer stop()
		c.cloneSet(3)
		c.webPods("a", "b", "c")
		c.createDisruptionBudget("web", "other")
		c.createBudget(newBudget("web", "1", asksForMirror))
		c.expectMirror("its name is taken", "web", "1 of app=other",
			"Warning NotMirrored: No PodDisruptionBudget shows it: PodDisruptionBudget web is there and the budget does not control it: delete it, and it is created anew")
		c.Sleep("1h")
		c.deleteDisruptionBudget("web")
		c.expectMirror("and free again", "web", "2 of app=web owned by web", created)
		c.createDisruptionBudget("mine", "web")
		c.expectMirror("a user's own", "web", "none",
			"Warning NotMirrored: No PodDisruptionBudget shows it: PodDisruptionBudget mine selects pod a as well: a pod that two select cannot be evicted", deleted)
		c.patchDisruptionBudget("mine", `{"spec":{"selector":{"matchLabels":{"app":"other"}}}}`)
		c.expectMirror("of other pods now", "web", "2 of app=web owned by web", created)
		c.PatchPod("b", `{"metadata":{"labels":{"app":"other"}}}`)
		c.expectMirror("a pod of the workload with other labels", "web", "none",
			"Warning NotMirrored: No PodDisruptionBudget shows it: the selector of the workload does not select pod b, which counts", deleted)
		c.PatchPod("b", `{"metadata":{"labels":{"app":"web"}}}`)
		c.expectMirror("with these again", "web", "2 of app=web owned by web", created)
		if errs := reconciles.Errors(); len(errs) > 0 {
			t.Errorf("%v", errs)
		}
	})
}

// Of the mirrors of two budgets of the same pods that are created at once one is left, and both are settled.
func TestMirrorsOfTheSamePods(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.cloneSet(3)
		c.webPods("a", "b", "c")
		c.createBudget(newBudget("b", "1", asksForMirror))
		c.createBudget(newBudget("a", "1", bySelector, asksForMirror))
		var writes atomic.Int32
		c.FailAfter(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" && strings.Contains(r.String(), "poddisruptionbudgets") {
				writes.Add(1)
			}
			return nil
		})
		_, stop := c.start(mirroring)
		defer stop()
		c.Sleep("1m")
		if a, b := c.disruptionBudget("a"), c.disruptionBudget("b"); a == nil || b != nil {
			t.Errorf("PUB-30: %v and %v are left", a, b)
		}
		c.Sleep("1h")
		if n := writes.Load(); n > 3 {
			t.Errorf("PUB-30: %d writes", n)
		}
	})
}

// By default no budget asks for PodDisruptionBudgets, and the rights to are not needed.
func TestNoMirrors(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && strings.Contains(r.String(), "poddisruptionbudgets") {
				t.Errorf("PUB-30: %s", r.String())
			}
			return nil
		})
		_, stop := c.start()
		defer stop()
		c.cloneSet(3)
		c.webPods("a", "b", "c")
		c.createBudget(newBudget("web", "1", asksForMirror))
		c.expectMirror("off", "web", "none")
	})
	for mirror, want := range map[MirrorPolicy]bool{MirrorNone: false, MirrorAnnotated: true, MirrorRemove: true} {
		got := false
		for _, rule := range Rules(Options{Mirror: mirror}) {
			got = got || rule.Resources[0] == "poddisruptionbudgets"
		}
		if got != want {
			t.Errorf("PUB-30: rules of %q for PodDisruptionBudgets: %t", mirror, got)
		}
	}
}

// A write that fails, or whose answer is lost, is made good, once.
func TestMirrorWritesThatFail(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(*cluster, string)
	}{
		{"refused", func(c *cluster, write string) { c.FailBefore(once(write, fixture.ErrInternal)) }},
		{"no answer", func(c *cluster, write string) { c.FailAfter(once(write, fixture.ErrLost)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				_, stop := c.start(mirroring)
				defer stop()
				c.cloneSet(3)
				c.webPods("a", "b", "c")
				tt.fault(c, "create poddisruptionbudgets")
				c.createBudget(newBudget("web", "1", asksForMirror))
				c.Sleep("10s")
				c.ForgetRequests()
				c.expectMirror("created", "web", "2 of app=web owned by web")
				tt.fault(c, "patch poddisruptionbudgets")
				c.scale(webPath, 4)
				c.Sleep("10s")
				c.ForgetRequests()
				c.expectMirror("changed", "web", "3 of app=web owned by web")
				tt.fault(c, "delete poddisruptionbudgets")
				c.annotate(v1alpha1.PodDisruptionBudgetAnnotation, "")
				c.Sleep("10s")
				c.ForgetRequests()
				c.expectMirror("deleted", "web", "none")
			})
		})
	}
}

// once fails one request of the controller.
func once(what string, with error) func(fakecluster.Request) error {
	var failed atomic.Bool
	return func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && r.String() == what && failed.CompareAndSwap(false, true) {
			return with
		}
		return nil
	}
}
