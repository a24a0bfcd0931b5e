// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Both ways create pods and update them in place.
func TestOnARealControlPlane(t *testing.T) {
	ctrl.SetLogger(klog.Background())
	control := testbed.Control(t)
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	if err := crds.Install(ctx, dynamic.NewForConfigOrDie(control.Config()), workloads.CRDs()); err != nil {
		t.Fatal(err)
	}
	unrestricted := func(m ctrl.Manager) error { return AddController(m) }
	inNamespaces := func(m ctrl.Manager) error {
		return AddController(m, "default", "kube-public")
	}
	for name, test := range map[string]struct {
		add        func(ctrl.Manager) error
		namespaces []string
	}{
		"controller": {add: unrestricted}, "reconciler": {add: AddReconciler},
		"restricted": {add: inNamespaces, namespaces: []string{"default", "kube-public"}},
	} {
		t.Run(name, func(t *testing.T) {
			running, stop := context.WithCancel(ctx)
			manager := newManager(t, control.Config(), test.namespaces...)
			if err := test.add(manager); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- manager.Start(running) }()
			rollOut(ctx, t, manager.GetClient(), name)
			stop()
			if err := <-ended; err != nil {
				t.Errorf("the manager ends with %v", err)
			}
		})
	}
}

func newManager(t *testing.T, connection *rest.Config, namespaces ...string) ctrl.Manager {
	t.Helper()
	options, err := Options(namespaces...)
	if err != nil {
		t.Fatal(err)
	}
	options.Metrics = server.Options{BindAddress: "0"}
	options.Controller = config.Controller{SkipNameValidation: ptr.To(true)} // the names of all tests share a process
	connection.QPS = -1
	manager, err := ctrl.NewManager(connection, options)
	if err != nil {
		t.Fatal(err)
	}
	return manager
}

// rollOut creates a CloneSet and changes its image: the same pods must get it.
func rollOut(ctx context.Context, t *testing.T, c client.Client, name string) {
	t.Helper()
	labels := map[string]string{"app": name}
	set := &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas:       ptr.To[int32](3),
			Selector:       &metav1.LabelSelector{MatchLabels: labels},
			UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}},
			},
		},
	}
	if err := c.Create(ctx, set); err != nil {
		t.Fatal(err)
	}
	before := readyPods(ctx, t, c, set, "nginx:1.27")
	patch := client.RawPatch("application/json-patch+json", []byte(`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"nginx:1.28"}]`))
	if err := c.Patch(ctx, set, patch); err != nil {
		t.Fatal(err)
	}
	after := readyPods(ctx, t, c, set, "nginx:1.28")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("pods before and after the update (-before +after):\n%s", diff)
	}
}

// readyPods waits until all replicas are ready with the image, and returns the
// UIDs of their pods.
func readyPods(ctx context.Context, t *testing.T, c client.Client, set *v1alpha1.CloneSet, image string) sets.Set[string] {
	t.Helper()
	var last error
	uids := sets.New[string]()
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		current, pods := &v1alpha1.CloneSet{}, &corev1.PodList{}
		if last = c.Get(ctx, client.ObjectKeyFromObject(set), current); last != nil {
			return false, nil
		}
		if last = c.List(ctx, pods, client.InNamespace(set.Namespace), client.MatchingLabels(set.Spec.Selector.MatchLabels)); last != nil {
			return false, nil
		}
		uids.Clear()
		for _, pod := range pods.Items {
			if pod.Spec.Containers[0].Image == image {
				uids.Insert(string(pod.UID))
			}
		}
		if current.Status.UpdatedReadyReplicas != 3 || uids.Len() != 3 {
			last = fmt.Errorf("%d pods have %s, status: %+v", uids.Len(), image, current.Status)
		}
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("three ready pods with %s: %v: %v", image, err, last)
	}
	return uids
}

// The webhook answers on the paths that webhook configurations call.
func TestWebhook(t *testing.T) {
	manager := newManager(t, &rest.Config{Host: "https://127.0.0.1:1"})
	if err := AddWebhook(manager); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{cloneset.MutatePath, cloneset.ValidatePath} {
		recorder := httptest.NewRecorder()
		manager.GetWebhookServer().WebhookMux().ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, path, http.NoBody))
		if recorder.Code == http.StatusNotFound {
			t.Errorf("nothing is served on %s", path)
		}
	}
}
