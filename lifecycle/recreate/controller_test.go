// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func unusedClientset(t *testing.T) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(&rest.Config{Host: "http://unused"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reader is a Reader of the caller's: it knows what it is given.
type reader struct {
	request *v1alpha1.ContainerRecreateRequest
	pod     *corev1.Pod
	err     error
}

func (r reader) Request(_, name string) (*v1alpha1.ContainerRecreateRequest, error) {
	if r.request == nil {
		return nil, apierrors.NewNotFound(v1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests").GroupResource(), name)
	}
	return r.request, nil
}

func (r reader) Pod(_, name string) (*corev1.Pod, error) {
	if r.pod == nil && r.err == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return r.pod, r.err
}

func (reader) SyncedResourceVersion(podwright.Resource) string { return "1" }

// The plan can be asked for without a reconcile.
func TestPlanOfAReconciler(t *testing.T) {
	key := types.NamespacedName{Namespace: "shop", Name: "restart"}
	old := request(completed(1000*24*time.Hour), ttl(5))
	for _, test := range []struct {
		name   string
		reader reader
		want   []string // nil: there is no request
		fails  bool
	}{
		{"no request", reader{}, nil, false},
		{"a request", reader{request: old, pod: runningPod()}, []string{"delete"}, false},
		{"a request without a pod", reader{request: old}, []string{"delete"}, false},
		{"a cache in trouble", reader{request: old, err: errors.New("broken")}, nil, true},
	} {
		r, err := recreate.NewReconciler(recreate.Options{Kubernetes: unusedClientset(t), Lifecycle: fake.NewClient(), Reader: test.reader})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := r.Plan(context.Background(), key)
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v", test.name, err)
		}
		var got []string
		if plan != nil {
			got = show(nil, plan)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: plan (-want +got):\n%s", test.name, diff)
		}
	}
	r, err := recreate.NewReconciler(recreate.Options{Kubernetes: unusedClientset(t), Lifecycle: fake.NewClient(), Reader: reader{}})
	if err != nil {
		t.Fatal(err)
	}
	if after, err := r.Reconcile(context.Background(), key); after != 0 || err != nil {
		t.Errorf("a request that is gone: again after %v, error %v", after, err)
	}
}
