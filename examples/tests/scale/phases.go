// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/podwright/podwright/examples/tests/testbed/rig"
)

var cloneSets = schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"}

// patience bounds each wait of a measurement.
const patience = 15 * time.Minute

// await polls until there is no error, or the patience ends.
func (b *bench) await(ctx context.Context, done func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := done(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w; the log of the manager:\n%s", ctx.Err(), err, b.manager.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (b *bench) quiet(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return b.manager.quiet(ctx)
}

// awaitAccounts waits until pods can be created in all namespaces.
func (b *bench) awaitAccounts(ctx context.Context) error {
	return rig.Until(ctx, "service accounts", func(ctx context.Context) error {
		accounts, err := b.core.CoreV1().ServiceAccounts("").List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
		if err != nil {
			return err
		}
		missing := sets.New(b.all()...)
		for i := range accounts.Items {
			missing.Delete(accounts.Items[i].Namespace)
		}
		if len(missing) > 0 {
			return fmt.Errorf("%d namespaces have none", len(missing))
		}
		return nil
	})
}

// settled returns nil if each CloneSet, StatefulSet and UnitedDeployment of the first namespace has its pods, all of them ready.
func (b *bench) settled(ctx context.Context) error {
	for resource, version := range map[string]string{"clonesets": "v1alpha1", "statefulsets": "v1beta1", "uniteddeployments": "v1alpha1"} {
		found, err := b.dynamic.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: version, Resource: resource}).Namespace(seed).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range found.Items {
			if err := done(&found.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// done returns nil if all pods of a workload are updated and ready.
func done(o *unstructured.Unstructured) error {
	of := func(path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(o.Object, path...)
		return n
	}
	want, updated, ready := of("spec", "replicas"), of("status", "updatedReplicas"), of("status", "readyReplicas")
	if observed := of("status", "observedGeneration"); observed != o.GetGeneration() || updated != want || ready != want {
		return fmt.Errorf("%s %s: %d of %d updated, %d ready, generation %d of %d", o.GetKind(), o.GetName(), updated, want, ready, observed, o.GetGeneration())
	}
	return nil
}

// spent is what the manager did for something.
type spent struct {
	cpu, took            time.Duration
	reconciles, requests float64
}

// during returns what the manager does for something, until it is quiet.
func (b *bench) during(ctx context.Context, do func() error) (s spent, err error) {
	cpu, err := b.manager.cpu()
	if err != nil {
		return s, err
	}
	before, err := b.manager.counts()
	if err != nil {
		return s, err
	}
	begin := time.Now()
	if err := do(); err != nil {
		return s, err
	}
	end, err := b.quiet(ctx)
	if err != nil {
		return s, err
	}
	after, err := b.manager.counts()
	if err != nil {
		return s, err
	}
	s = spent{took: end.Sub(begin), reconciles: after[reconciles] - before[reconciles], requests: after[requests] - before[requests]}
	s.cpu, err = b.manager.cpu()
	s.cpu -= cpu
	return s, err
}

// rollOut has all CloneSets that are named so update their pods in place.
func (b *bench) rollOut(ctx context.Context, image string) (s spent, err error) {
	b.say("rolling out %s", image)
	stop := kubelets(b.core, "app=web")
	defer stop()
	if err := b.manager.up(ctx); err != nil {
		return s, err
	}
	if _, err := b.quiet(ctx); err != nil {
		return s, err
	}
	patch := fmt.Appendf(nil, `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":%q}]`, image)
	return b.during(ctx, func() error {
		changing, inner := errgroup.WithContext(ctx)
		changing.SetLimit(parallel)
		for _, namespace := range append(b.copies(), seed) {
			changing.Go(func() error {
				_, err := b.dynamic.Resource(cloneSets).Namespace(namespace).Patch(inner, "web", types.JSONPatchType, patch, metav1.PatchOptions{})
				return err
			})
		}
		if err := changing.Wait(); err != nil {
			return err
		}
		return b.await(ctx, func(ctx context.Context) error {
			found, err := b.dynamic.Resource(cloneSets).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=web"})
			if err != nil {
				return err
			}
			for i := range found.Items {
				if err := done(&found.Items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// measureStart starts the manager on a cluster that has just been filled.
func (b *bench) measureStart(ctx context.Context) error {
	b.say("starting beside %s", b.size)
	c, err := b.apiServer(ctx)
	if err != nil {
		return err
	}
	b.watches = c[watches]
	begin := time.Now()
	if err := b.manager.up(ctx); err != nil {
		return err
	}
	end, err := b.quiet(ctx)
	if err != nil {
		return err
	}
	b.figures.lasted(end.Sub(begin), "from the first start to quiet")
	return b.manager.stop()
}

// measureRestart changes something as soon as a manager that has been down lets it pass.
func (b *bench) measureRestart(ctx context.Context) error {
	b.say("starting again")
	stop := kubelets(b.core, "app=web")
	defer stop()
	begin := time.Now()
	if err := b.manager.start(); err != nil {
		return err
	}
	err := b.await(ctx, func(ctx context.Context) error { // while the webhooks are down, the API server refuses it
		_, err := b.dynamic.Resource(cloneSets).Namespace(seed).Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"replicas":41}}`), metav1.PatchOptions{})
		return err
	})
	if err != nil {
		return err
	}
	b.figures.lasted(time.Since(begin), "from a restart to a change that the webhooks let pass")
	err = b.await(ctx, func(ctx context.Context) error {
		pods, err := b.core.CoreV1().Pods(seed).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		if err == nil && len(pods.Items) != 41 {
			err = fmt.Errorf("there are %d pods", len(pods.Items))
		}
		return err
	})
	if err != nil {
		return err
	}
	b.figures.lasted(time.Since(begin), "from a restart to the pod that a user has asked for")
	end, err := b.quiet(ctx)
	if err != nil {
		return err
	}
	b.figures.lasted(end.Sub(begin), "from a restart to quiet")
	cpu, err := b.manager.cpu()
	if err != nil {
		return err
	}
	b.figures.add("s of CPU", cpu.Seconds(), "a restart")
	c, err := b.manager.counts()
	if err != nil {
		return err
	}
	objects := float64(b.namespaces*8 + 4)
	b.figures.add("", c[reconciles]/objects, "reconciles for a workload at a restart")
	b.figures.add("", c[requests]/objects, "requests for a workload at a restart")
	return nil
}

// watches is the metric of the API server that counts them, beside other long requests.
const watches = "apiserver_longrunning_requests"

func (b *bench) apiServer(ctx context.Context) (counts, error) {
	text, err := b.core.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	return sums(string(text))
}

// measureRest measures a manager that has nothing to do.
func (b *bench) measureRest(ctx context.Context) error {
	live, err := b.manager.live()
	if err != nil {
		return err
	}
	now, peak, err := b.manager.memory()
	if err != nil {
		return err
	}
	c, err := b.manager.counts()
	if err != nil {
		return err
	}
	api, err := b.apiServer(ctx)
	if err != nil {
		return err
	}
	b.figures.add("bytes", live/float64(b.namespaces*320+b.nodes*4), "of the heap for each pod, all else included")
	b.figures.add("MB", live/1e6, "heap in use")
	b.figures.add("MB", now, "memory of the process (RSS)")
	b.figures.add("MB", peak, "memory of the process at most (RSS)")
	b.figures.add("", c[goroutines], "goroutines")
	b.figures.add("", api[watches]-b.watches, "watches")
	return nil
}

// measureHeartbeats has nodes report that they live.
func (b *bench) measureHeartbeats(ctx context.Context) error {
	n := min(b.nodes, 500)
	b.say("%d heartbeats of nodes", n)
	s, err := b.during(ctx, func() error {
		return each(ctx, n, func(ctx context.Context, i int) error {
			beat := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":%q}]}}`, time.Now().UTC().Add(time.Minute).Format(time.RFC3339))
			_, err := b.core.CoreV1().Nodes().Patch(ctx, nodeName(i), types.StrategicMergePatchType, beat, metav1.PatchOptions{}, "status")
			return err
		})
	})
	if err != nil {
		return err
	}
	b.figures.add("", s.reconciles/float64(n), "reconciles for a heartbeat of a node")
	b.figures.add("ms of CPU", s.cpu.Seconds()*1000/float64(n), "a heartbeat of a node")
	return nil
}

// measureEvents has pods be unready, and ready again.
func (b *bench) measureEvents(ctx context.Context) error {
	b.say("pods that become unready")
	pods, err := b.core.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: "app=shop"})
	if err != nil {
		return err
	}
	n := min(len(pods.Items), 500)
	s, err := b.during(ctx, func() error {
		for _, ready := range []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue} {
			err := each(ctx, n, func(ctx context.Context, i int) error {
				is := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q},{"type":"ContainersReady","status":%[1]q}]}}`, ready)
				_, err := b.core.CoreV1().Pods(pods.Items[i].Namespace).Patch(ctx, pods.Items[i].Name, types.StrategicMergePatchType, is, metav1.PatchOptions{}, "status")
				return err
			})
			if err != nil {
				return err
			}
			if _, err := b.quiet(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	events := float64(2 * n)
	b.figures.add("", s.reconciles/events, "reconciles for an event of a pod")
	b.figures.add("", s.requests/events, "requests for an event of a pod")
	b.figures.add("ms of CPU", s.cpu.Seconds()*1000/events, "an event of a pod")
	return nil
}

// each does something n times, several at once.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	doing, ctx := errgroup.WithContext(ctx)
	doing.SetLimit(parallel)
	for i := range n {
		doing.Go(func() error { return do(ctx, i) })
	}
	return doing.Wait()
}
