// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// webhook is that of one replica, with caches of its own.
func (c *cluster) webhook() *Webhook {
	return &Webhook{Deletions: true, Updates: true, Guard: c.guard(), Kubernetes: c.options.Kubernetes, Pods: c.podLister(), Availability: c.options.Availability}
}

func (c *cluster) podLister() corev1listers.PodLister {
	c.T.Helper()
	informer := informers.NewSharedInformerFactory(c.Client(fixture.ControllerUser), 0).Core().V1().Pods()
	c.Must(informer.Informer().SetTransform(TrimPod))
	ctx, cancel := context.WithCancel(c.T.Context())
	done := make(chan struct{})
	go func() { defer close(done); informer.Informer().RunWithContext(ctx) }()
	c.T.Cleanup(func() { cancel(); <-done })
	cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced)
	return informer.Lister()
}

// unprotected is a cache of pods from before they were told of their budget.
type unprotected struct{ corev1listers.PodLister }

func (l unprotected) Pods(namespace string) corev1listers.PodNamespaceLister {
	return unprotectedInNamespace{l.PodLister.Pods(namespace)}
}

type unprotectedInNamespace struct {
	corev1listers.PodNamespaceLister
}

func (l unprotectedInNamespace) Get(name string) (*corev1.Pod, error) {
	pod, err := l.PodNamespaceLister.Get(name)
	if err != nil {
		return nil, err
	}
	pod = pod.DeepCopy()
	delete(pod.Annotations, v1alpha1.RelatedPubAnnotation)
	return pod, nil
}

// about is a request about a pod as the API server sends it.
func about(operation admissionv1.Operation, subresource string, name string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "uid", Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
		SubResource: subresource, Namespace: "default", Name: name, Operation: operation,
	}
}

func raw(object any) []byte {
	data, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return data
}

func deletion(pod *corev1.Pod, options metav1.DeleteOptions) *admissionv1.AdmissionRequest {
	r := about(admissionv1.Delete, "", pod.Name)
	r.OldObject.Raw, r.Options.Raw = raw(pod), raw(options)
	return r
}

func eviction(name string, options *metav1.DeleteOptions) *admissionv1.AdmissionRequest {
	r := about(admissionv1.Create, "eviction", name)
	r.Kind = metav1.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}
	r.Object.Raw = raw(policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, DeleteOptions: options})
	return r
}

func update(before *corev1.Pod, subresource string, change func(*corev1.Pod)) *admissionv1.AdmissionRequest {
	r, after := about(admissionv1.Update, subresource, before.Name), before.DeepCopy()
	change(after)
	r.Object.Raw, r.OldObject.Raw = raw(after), raw(before)
	return r
}

func newImage(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "nginx:2" }

// answer is the code and the message of a refusal; empty for what is allowed.
func answer(r *admissionv1.AdmissionResponse) string {
	if r.Allowed {
		return ""
	}
	return fmt.Sprint(r.Result.Code, " ", r.Result.Message)
}

// What the webhook is not asked about, or cannot read, and what it does when the API server does not answer.
func TestOtherRequests(t *testing.T) {
	protected(t, 2, func(t *testing.T, c *cluster) {
		w, pod := c.webhook(), c.livePod("a")
		if d, err := w.Guard.Allow(t.Context(), c.livePod("b"), v1alpha1.PubDeleteOperation); !d.Allowed || err != nil {
			t.Fatalf("%+v, %v", d, err)
		}
		other := deletion(pod, metav1.DeleteOptions{})
		other.Resource = metav1.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1", Resource: "pods"}
		noOptions, noObject, noPod := deletion(pod, metav1.DeleteOptions{}), deletion(pod, metav1.DeleteOptions{}), deletion(pod, metav1.DeleteOptions{})
		noOptions.Options.Raw, noObject.OldObject.Raw, noPod.OldObject.Raw = nil, nil, []byte("[]")
		noEviction, badOptions := eviction("a", nil), deletion(pod, metav1.DeleteOptions{})
		noEviction.Object.Raw, badOptions.Options.Raw = []byte("[]"), []byte("[]")
		for _, tt := range []struct {
			name    string
			request *admissionv1.AdmissionRequest
			want    string
		}{
			{"other pods", other, ""},
			{"EJ-25: another subresource", update(pod, "ephemeralcontainers", newImage), ""},
			{"a pod is created", about(admissionv1.Create, "", "a"), ""},
			{"nothing is deleted", noObject, ""},
			{"PUB-29: one that is not there", eviction("nobody", nil), ""},
			{"without options", noOptions, "403 "},
			{"no pod", noPod, "400 "},
			{"no eviction", noEviction, "400 "},
			{"no options", badOptions, "400 "},
		} {
			if got := answer(w.ValidatePod(t.Context(), tt.request)); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		}
		c.Sleep("21s")
		c.FailBefore(fixture.Fail("patch podunavailablebudgets/status", fixture.ErrInternal))
		for what, request := range map[string]*admissionv1.AdmissionRequest{"403": deletion(pod, metav1.DeleteOptions{}), "429": eviction("a", nil)} {
			got := answer(w.ValidatePod(t.Context(), request))
			if !strings.HasPrefix(got, what) || !strings.Contains(got, "injected") {
				t.Errorf("PUB-25: %s, want %s with the text of the API server", got, what)
			}
		}
		c.FailBefore(fixture.Fail("get pods", fixture.ErrInternal))
		w.Pods = nil
		if got := answer(w.ValidatePod(t.Context(), eviction("a", nil))); !strings.HasPrefix(got, "500 ") {
			t.Errorf("the pod cannot be read: %q", got)
		}
	})
}

// What may be saved. (PUB-21, PUB-22, PUB-26)
func TestValidate(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.createBudget(newBudget("first", "1"))
		c.createBudget(newBudget("second", "1", bySelector))
		c.createBudget(newBudget("third", "1", bySelector))
		w := c.webhook()
		request := func(object, old *v1alpha1.PodUnavailableBudget) *admissionv1.AdmissionRequest {
			r := &admissionv1.AdmissionRequest{Kind: metav1.GroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kind)), Namespace: "default", Name: object.Name, Operation: admissionv1.Create}
			if r.Object.Raw = raw(object); old != nil {
				r.Operation, r.OldObject.Raw = admissionv1.Update, raw(old)
			}
			return r
		}
		finalizer := func(b *v1alpha1.PodUnavailableBudget) { b.Finalizers = []string{"a/b"} }
		otherSelector := func(b *v1alpha1.PodUnavailableBudget) { bySelector(b); b.Spec.Selector.MatchLabels["app"] = "other" }
		off := &Webhook{}
		for _, tt := range []struct {
			name        string
			webhook     *Webhook
			object, old *v1alpha1.PodUnavailableBudget
			want        string
		}{
			{"a good one", w, newBudget("new", "1", otherSelector), nil, ""},
			{"PUB-26: the same workload", w, newBudget("new", "1"), nil, `400 PodUnavailableBudget.policy.kruise.io "new" is invalid: spec.targetRef: Forbidden: is about the same pods as PodUnavailableBudget first`},
			{"PUB-26: the same pods, of two", w, newBudget("new", "1", bySelector), nil, `400 PodUnavailableBudget.policy.kruise.io "new" is invalid: spec.selector: Forbidden: is about the same pods as PodUnavailableBudget second, third`},
			{"PUB-26: all that is wrong", w, newBudget("new", "-1", otherSelector, annotated(v1alpha1.PubProtectOperationAnnotation, "DELETE, UPDATE")), nil, `400 PodUnavailableBudget.policy.kruise.io "new" is invalid: [metadata.annotations[kruise.io/pub-protect-operations]: Invalid value: "DELETE, UPDATE"`},
			{"PUB-26: itself is no other", w, newBudget("first", "2"), newBudget("first", "1"), ""},
			{"PUB-26: what stays is not judged again", w, newBudget("second", "-1", bySelector), newBudget("second", "-1", bySelector, finalizer), ""},
			{"PUB-22: another workload", w, newBudget("first", "1", targeting("apps/v1", "Deployment", "a")), newBudget("first", "1"), `400 PodUnavailableBudget.policy.kruise.io "first" is invalid: spec: Forbidden: selector and targetRef cannot be modified`},
			{"PUB-26: the gates are off", off, newBudget("new", "1"), nil, "400 " + gatesOff},
			{"PUB-26: and finalizers go", off, newBudget("first", "1"), newBudget("first", "1", finalizer), ""},
			{"nobody reads the others", &Webhook{Updates: true}, newBudget("new", "1"), nil, ""},
		} {
			got := answer(tt.webhook.Validate(t.Context(), request(tt.object, tt.old)))
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		}
		c.FailBefore(fixture.Fail("list podunavailablebudgets", errors.New("no answer")))
		if got := answer(w.Validate(t.Context(), request(newBudget("new", "1", otherSelector), nil))); !strings.HasPrefix(got, "500 ") {
			t.Errorf("the others cannot be read: %q", got)
		}
		bad := request(newBudget("new", "1"), nil)
		bad.Object.Raw = []byte("[]")
		if got := w.Validate(t.Context(), bad); got.Allowed || got.Result.Code != http.StatusBadRequest {
			t.Errorf("no budget: %+v", got)
		}
	})
}

// The paths, and what is asked of the API server.
func TestWebhookManifest(t *testing.T) {
	for webhook, want := range map[*Webhook][]string{{}: {ValidatePath}, {Deletions: true}: {ValidatePodPath, ValidatePath}, {Updates: true}: {ValidatePodPath, ValidatePath}} {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(webhook.Handlers()))); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	}
	for _, tt := range []struct {
		webhook *Webhook
		want    []string
	}{
		{&Webhook{}, []string{"podunavailablebudgets get,list,watch"}},
		{&Webhook{Updates: true}, []string{"podunavailablebudgets get,list,watch", "podunavailablebudgets/status patch"}},
		{&Webhook{Deletions: true}, []string{"podunavailablebudgets get,list,watch", "podunavailablebudgets/status patch", "pods get,patch"}},
		{&Webhook{Deletions: true, Pods: corev1listers.NewPodLister(nil)}, []string{"podunavailablebudgets get,list,watch", "podunavailablebudgets/status patch", "pods get,list,watch,patch"}},
	} {
		var got []string
		for _, rule := range tt.webhook.Rules() {
			got = append(got, strings.Join(rule.Resources, ",")+" "+strings.Join(rule.Verbs, ","))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	}
}
