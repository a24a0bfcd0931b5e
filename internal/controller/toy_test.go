// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// toy is a kind of the least size: it copies the label "colour" of a pod into an
// annotation. Its four parts are those of the checklist in CONTRIBUTING.
type toy struct {
	pods    cache.SharedIndexInformer
	writer  apply.Writer // remembers writes
	pod     apiwriter.Resource
	applied int
}

// Observe reads what a plan depends on.
type toySnapshot struct{ pod *corev1.Pod }

func (k *toy) observe(_ context.Context, key types.NamespacedName) (*toySnapshot, error) {
	pod, err := corelisters.NewPodLister(k.pods.GetIndexer()).Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return &toySnapshot{pod}, err
}

// Plan decides.
type toyPlan struct{ patch []byte }

func newToyPlan(s *toySnapshot) *toyPlan {
	colour := s.pod.Labels["colour"]
	if s.pod.Annotations["colour"] == colour {
		return &toyPlan{}
	}
	return &toyPlan{patch: fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{"colour":%q}}}`, s.pod.UID, colour)}
}

// Apply writes, and remembers how far the cache must come.
func (k *toy) apply(ctx context.Context, s *toySnapshot, plan *toyPlan) (time.Duration, error) {
	k.applied++
	if plan.patch == nil {
		return 0, nil
	}
	version, err := k.pod.Patch(ctx, s.pod, "", types.StrategicMergePatchType, plan.patch)
	k.writer.Own.Wrote(cache.MetaObjectToName(s.pod).AsNamespacedName(), caches.Pods, version)
	return 0, err
}

// reads declares what the plan reads: of pods labels and annotations.
func (k *toy) reads(client kubernetes.Interface) []controller.Read {
	return []controller.Read{{
		Resource: caches.Pods, Live: apiwriter.Pods(client), Informer: &k.pods, Make: caches.NewInformers(client, "").Pods,
		Fields: controller.Labels | controller.Annotations, Itself: true,
	}}
}

func TestToyKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := kubernetes.NewForConfig(fakecluster.New(nil).Config("toy"))
		if err != nil {
			t.Fatal(err)
		}
		k := &toy{pod: apiwriter.Pods(client)}
		toys, err := controller.New(controller.Setup[toySnapshot, toyPlan]{
			Package: "toy", Objects: "toys", Options: &podwright.ControllerOptions{}, Check: func(*controller.Checks) {},
			Reads:  func() []controller.Read { return k.reads(client) },
			Reader: func(c caches.Reader) podwright.Caches { return c },
			Kind: func() controller.Kind[toySnapshot, toyPlan] {
				return controller.Kind[toySnapshot, toyPlan]{
					Name: "toy-controller", Writer: &k.writer, Observe: k.observe, Plan: newToyPlan, Apply: k.apply,
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- toys.Run(ctx) }()

		pods := client.CoreV1().Pods("shop")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{"colour": "blue"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct{ patch, subresource, want string }{
			{`{}`, "", "blue"},
			{`{"status":{"message":"a heartbeat"}}`, "status", "blue"},
			{`{"metadata":{"labels":{"colour":"red"}}}`, "", "red"},
		} {
			before := k.applied
			if _, err := pods.Patch(t.Context(), "web-0", types.StrategicMergePatchType, []byte(step.patch), metav1.PatchOptions{}, subresources(step.subresource)...); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // in the time of the bubble: the cache follows
			synctest.Wait()
			if step.subresource == "status" && k.applied != before {
				t.Errorf("a change of what is not declared is reconciled %d times", k.applied-before)
			}
			pod, err := pods.Get(t.Context(), "web-0", metav1.GetOptions{})
			if err != nil || pod.Annotations["colour"] != step.want {
				t.Errorf("after %s: error %v, annotations %v, want %s", step.patch, err, pod.Annotations, step.want)
			}
			if next, err := toys.Plan(t.Context(), types.NamespacedName{Namespace: "shop", Name: "web-0"}); err != nil || next.patch != nil {
				t.Errorf("after %s: error %v, and it would patch %s", step.patch, err, next.patch)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func subresources(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
