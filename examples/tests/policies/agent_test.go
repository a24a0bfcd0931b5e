// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent/policies"
)

const account = "system:serviceaccount:kruise-system:podwright-nodeagent"

// agentOf is an agent whose token names a node; the empty one names none.
func agentOf(node string) user.Info {
	agent := &user.DefaultInfo{Name: account, Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	if node != "" {
		agent.Extra = map[string][]string{policies.NodeNameClaim: {node}, "authentication.kubernetes.io/node-uid": {"n"}}
	}
	return agent
}

// agentJudge knows the policies for the agents, and changes of options.
func agentJudge(t *testing.T, edits ...func(*policies.Options)) *judge {
	t.Helper()
	options := policies.Options{Namespace: "kruise-system", Name: "podwright-nodeagent"}
	for _, edit := range edits {
		edit(&options)
	}
	all, _, err := policies.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return newJudge(t, all)
}

// edited returns an object with changes.
func edited[T runtime.Object](object T, edits ...func(T)) T {
	object = object.DeepCopyObject().(T)
	for _, edit := range edits {
		edit(object)
	}
	return object
}

// pod is on node-1.
var pod = &corev1.Pod{
	TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
	ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-0", UID: "u", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "1"},
		Finalizers: []string{"example.com/hold"}, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "o", UID: "o"}},
	},
	Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main"}}},
	Status: corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.7", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
	},
}

func podStatus(agent user.Info, edits ...func(*corev1.Pod)) request {
	return request{"pods", "status", pod.GroupVersionKind(), "web-0", edited(pod, edits...), pod, agent}
}

func reported(p *corev1.Pod) {
	p.Annotations = map[string]string{"a": "1", "apps.kruise.io/runtime-containers-meta": "{}"}
}

func TestPods(t *testing.T) {
	const (
		only      = "Forbidden: an agent reports on a pod in the annotation apps.kruise.io/runtime-containers-meta alone: "
		elsewhere = "Forbidden: the agent of node node-2 may not write to pod shop/web-0, of node node-1"
	)
	j, own := agentJudge(t), agentOf("node-1")
	bare := func(p *corev1.Pod) { p.Labels, p.Annotations, p.Finalizers, p.OwnerReferences = nil, nil, nil, nil }
	for _, test := range []struct {
		name string
		request
		want string // empty: accepted
	}{
		{"a report", podStatus(own, reported), ""},
		{"nothing", podStatus(own), ""},
		{"the first annotation", request{"pods", "status", pod.GroupVersionKind(), "web-0", edited(pod, bare, reported, func(p *corev1.Pod) { delete(p.Annotations, "a") }), edited(pod, bare), own}, ""},
		{"a report on another node's pod", podStatus(agentOf("node-2"), reported), elsewhere},
		{"the node moves along", podStatus(agentOf("node-2"), reported, func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }), elsewhere},
		{"a pod on no node", request{"pods", "status", pod.GroupVersionKind(), "web-0", edited(pod, reported), edited(pod, func(p *corev1.Pod) { p.Spec.NodeName = "" }), own},
			"Forbidden: the agent of node node-1 may not write to pod shop/web-0, of node"},
		{"a token without a node", podStatus(agentOf(""), reported),
			"Forbidden: the token names no node: want one that is bound to a pod or a node, which has the claim authentication.kubernetes.io/node-name"},
		{"another user", podStatus(&user.DefaultInfo{Name: "admin"}, func(p *corev1.Pod) { p.Labels = nil }), ""},
		{"another ServiceAccount of that name", podStatus(&user.DefaultInfo{Name: "system:serviceaccount:shop:podwright-nodeagent"}, reported), ""},
		{"a condition", podStatus(own, func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionTrue }), only + "status would change"},
		{"the address", podStatus(own, reported, func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.8" }), only + "status would change"},
		{"a label", podStatus(own, func(p *corev1.Pod) { p.Labels["b"] = "1" }), only + "labels would change"},
		{"no labels", podStatus(own, func(p *corev1.Pod) { p.Labels = nil }), only + "labels would change"},
		{"a finalizer", podStatus(own, func(p *corev1.Pod) { p.Finalizers = nil }), only + "finalizers would change"},
		{"an owner", podStatus(own, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "x" }), only + "ownerReferences would change"},
		{"one more annotation", podStatus(own, reported, func(p *corev1.Pod) { p.Annotations["apps.kruise.io/inplace-update-state"] = "{}" }), only + "another annotation would change"},
		{"another annotation", podStatus(own, reported, func(p *corev1.Pod) { p.Annotations["a"] = "2" }), only + "another annotation would change"},
		{"an annotation less", podStatus(own, reported, func(p *corev1.Pod) { delete(p.Annotations, "a") }), only + "another annotation would change"},
		{"no annotations", podStatus(own, func(p *corev1.Pod) { p.Annotations = nil }), only + "another annotation would change"},
	} {
		t.Run(test.name, func(t *testing.T) { j.check(t, test.request, test.want) })
	}
}

// check wants a request to be accepted, or to be refused with these words.
func (j *judge) check(t *testing.T, r request, want string) {
	t.Helper()
	var all []string
	if want != "" {
		all = []string{want}
	}
	if diff := cmp.Diff(all, j.refusals(t, r)); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
}

// recreateRequest is for a pod on node-1.
func recreateRequest(node string, edits ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps.kruise.io/v1alpha1", "kind": "ContainerRecreateRequest",
		"metadata": map[string]any{"namespace": "shop", "name": "restart", "uid": "r"},
		"spec":     map[string]any{"podName": "web-0", "containers": []any{map[string]any{"name": "main"}}},
	}}
	if node != "" {
		u.SetLabels(map[string]string{lifecyclev1alpha1.ContainerRecreateRequestNodeNameLabel: node, lifecyclev1alpha1.ContainerRecreateRequestActiveLabel: "true"})
	}
	return edited(u, edits...)
}

func set(value any, fields ...string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { _ = unstructured.SetNestedField(u.Object, value, fields...) }
}

func TestContainerRecreateRequests(t *testing.T) {
	const (
		only      = "Forbidden: an agent announces what it stops in the annotation crr.podwright.io/stopping alone: "
		elsewhere = "Forbidden: the agent of node node-2 may not write to ContainerRecreateRequest shop/restart, of node node-1"
	)
	announced := set("containerd://1", "metadata", "annotations", "crr.podwright.io/stopping")
	j, own := agentJudge(t), agentOf("node-1")
	for _, subresource := range []string{"", "status"} {
		change := func(agent user.Info, edits ...func(*unstructured.Unstructured)) request {
			old := recreateRequest("node-1")
			return request{"containerrecreaterequests", subresource, old.GroupVersionKind(), "restart", edited(old, edits...), old, agent}
		}
		unlabelled := change(own, announced)
		unlabelled.old = recreateRequest("")
		for _, test := range []struct {
			name string
			request
			want string
		}{
			{"the announcement", change(own, announced), ""},
			{"the status", change(own, set("Recreating", "status", "phase")), ""},
			{"of another node", change(agentOf("node-2"), announced), elsewhere},
			{"the status of another node's", change(agentOf("node-2"), set("Completed", "status", "phase")), elsewhere},
			{"the label moves along", change(agentOf("node-2"), set("node-2", "metadata", "labels", "crr.apps.kruise.io/node-name")), elsewhere},
			{"of no node", unlabelled, "Forbidden: the agent of node node-1 may not write to ContainerRecreateRequest shop/restart, of node"},
			{"no node in the token", change(agentOf(""), announced),
				"Forbidden: the token names no node: want one that is bound to a pod or a node, which has the claim authentication.kubernetes.io/node-name"},
			{"another user", change(&user.DefaultInfo{Name: "admin"}, set("x", "spec", "podName")), ""},
			{"given to another node", change(own, set("node-2", "metadata", "labels", "crr.apps.kruise.io/node-name")), only + "labels would change"},
			{"no longer active", change(own, set(map[string]any{"crr.apps.kruise.io/node-name": "node-1"}, "metadata", "labels")), only + "labels would change"},
			{"another annotation", change(own, set("2020-01-01T00:00:00Z", "metadata", "annotations", "crr.apps.kruise.io/unready-acquired")), only + "another annotation would change"},
			{"a finalizer", change(own, set([]any{"example.com/x"}, "metadata", "finalizers")), only + "finalizers would change"},
			{"an owner", change(own, set([]any{map[string]any{"uid": "x"}}, "metadata", "ownerReferences")), only + "ownerReferences would change"},
			{"the spec", change(own, set("web-1", "spec", "podName")), only + "spec would change"},
		} {
			t.Run(test.name+" "+subresource, func(t *testing.T) { j.check(t, test.request, test.want) })
		}
	}
}

func TestNodes(t *testing.T) {
	j := agentJudge(t)
	for resource, kind := range map[string]string{"nodeimages": "NodeImage", "nodepodprobes": "NodePodProbe"} {
		old := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "node-1"}}}
		old.SetGroupVersionKind(distributionv1alpha1.SchemeGroupVersion.WithKind(kind))
		change := func(agent user.Info) request {
			return request{resource, "status", old.GroupVersionKind(), "node-1", edited(old, set(int64(1), "status", "desired")), old, agent}
		}
		j.check(t, change(agentOf("node-1")), "")
		j.check(t, change(agentOf("node-10")), "Forbidden: the agent of node node-10 may not write to "+resource+" node-1, of node node-1")
		j.check(t, change(&user.DefaultInfo{Name: "admin"}), "")
	}
}

func TestEvents(t *testing.T) {
	event := func(host, instance string) *corev1.Event {
		return &corev1.Event{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0.1"},
			Source: corev1.EventSource{Component: "kruise-daemon-puller", Host: host}, ReportingInstance: instance,
		}
	}
	const as = "Forbidden: an agent records events as its node: want source.host, and reportingInstance if it is set, to be node-1"
	j := agentJudge(t)
	for _, test := range []struct {
		name        string
		object, old *corev1.Event
		agent       user.Info
		want        string
	}{
		{"a new one", event("node-1", "node-1"), nil, agentOf("node-1"), ""},
		{"one of an older client", event("node-1", ""), nil, agentOf("node-1"), ""},
		{"one more of it", event("node-1", "node-1"), event("node-1", "node-1"), agentOf("node-1"), ""},
		{"as another node", event("node-2", "node-2"), nil, agentOf("node-1"), as},
		{"half as another node", event("node-1", "node-2"), nil, agentOf("node-1"), as},
		{"as no node", event("", ""), nil, agentOf("node-1"), as},
		{"another node's", event("node-1", "node-1"), event("node-2", "node-2"), agentOf("node-1"), "Forbidden: event shop/web-0.1 was not recorded on node node-1"},
		{"the scheduler's", event("node-1", "node-1"), event("", ""), agentOf("node-1"), "Forbidden: event shop/web-0.1 was not recorded on node node-1"},
		{"no node", event("node-1", "node-1"), nil, agentOf(""), "Forbidden: the token names no node: want one that is bound to a pod or a node, which has the claim authentication.kubernetes.io/node-name"},
		{"another user's", event("", ""), nil, &user.DefaultInfo{Name: "admin"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request{resource: "events", kind: test.object.GroupVersionKind(), name: "web-0.1", object: test.object, user: test.agent}
			if test.old != nil {
				r.old = test.old
			}
			j.check(t, r, test.want)
		})
	}
}

// A token that names no node writes for all of them if that is asked for; one that
// names a node is held to it.
func TestUnboundTokens(t *testing.T) {
	j := agentJudge(t, func(o *policies.Options) { o.UnboundTokens = true })
	j.check(t, podStatus(agentOf(""), reported), "")
	j.check(t, podStatus(agentOf("node-2"), reported), "Forbidden: the agent of node node-2 may not write to pod shop/web-0, of node node-1")
	j.check(t, podStatus(agentOf(""), func(p *corev1.Pod) { p.Labels = nil }),
		"Forbidden: an agent reports on a pod in the annotation apps.kruise.io/runtime-containers-meta alone: labels would change")
	event := &corev1.Event{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}}
	j.check(t, request{resource: "events", kind: event.GroupVersionKind(), object: event, user: agentOf("")}, "")
	j.check(t, request{resource: "events", kind: event.GroupVersionKind(), object: event, user: agentOf("node-1")},
		"Forbidden: an agent records events as its node: want source.host, and reportingInstance if it is set, to be node-1")
}

// A pod with as much in it as the API server takes can still be reported on.
func TestPodOfGreatSizeIsAffordable(t *testing.T) {
	old := edited(pod)
	for i := range 10_000 {
		old.Annotations[fmt.Sprintf("example.com/annotation-%d", i)] = "1"
	}
	old.Annotations["long"] = strings.Repeat("x", 100<<10)
	for i := range 1_000 {
		old.Status.ContainerStatuses = append(old.Status.ContainerStatuses, corev1.ContainerStatus{Name: fmt.Sprint(i), Image: strings.Repeat("i", 1000)})
	}
	report := func(p *corev1.Pod) {
		p.Annotations["apps.kruise.io/runtime-containers-meta"] = strings.Repeat("m", 20<<10)
	}
	agentJudge(t).check(t, request{"pods", "status", pod.GroupVersionKind(), "web-0", edited(old, report), old, agentOf("node-1")}, "")
}
