// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/tests/cluster"
)

// bench is what is measured on, and what was measured.
type bench struct {
	size
	figures figures
	log     io.Writer

	control *cluster.Cluster
	core    kubernetes.Interface
	dynamic dynamic.Interface
	etcd    *etcd
	manager *program
	// placed counts the pods that were given nodes.
	placed int
	// copied has the keys of what stands in all namespaces.
	copied map[string]bool
	// watches are those that the API server has without the manager.
	watches float64
}

func newBench(ctx context.Context, s size, log io.Writer) (*bench, error) {
	control, err := cluster.Start(ctx, cluster.Options{Nodes: -1, Log: log, APIServerArgs: []string{"--max-requests-inflight=3000", "--max-mutating-requests-inflight=1000"}})
	if err != nil {
		return nil, err
	}
	b := &bench{size: s, log: log, control: control, copied: map[string]bool{}}
	if err := b.connect(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) connect(ctx context.Context) (err error) {
	config := b.control.Config()
	config.QPS, config.ContentType = -1, runtime.ContentTypeProtobuf
	if b.core, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	config.ContentType = runtime.ContentTypeJSON
	if b.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	if b.etcd, err = dial(b.control.Dir()); err != nil {
		return err
	}
	b.manager, err = newProgram(ctx, b.control, b.memoryLimit)
	return err
}

func (b *bench) close() (err error) {
	if b.manager != nil {
		err = b.manager.stop()
	}
	if b.etcd != nil {
		err = errors.Join(err, b.etcd.Close())
	}
	return errors.Join(err, b.control.Stop())
}

// say tells how far it is.
func (b *bench) say(format string, of ...any) {
	fmt.Fprintf(b.log, time.Now().Format(time.TimeOnly)+" "+format+"\n", of...)
}

// measureAll measures the rollout by itself, fills the cluster, and measures the rest.
func (b *bench) measureAll(ctx context.Context) error {
	b.say("making the first pods")
	if err := b.seedWeb(ctx); err != nil {
		return err
	}
	alone, err := b.rollOut(ctx, "registry.example/main:2")
	if err != nil {
		return err
	}
	b.say("making one namespace of each kind of pods, and its copies")
	if err := b.fill(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{b.measureStart, b.measureRestart, b.measureRest, b.measureHeartbeats, b.measureEvents} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	beside, err := b.rollOut(ctx, "registry.example/main:3")
	if err != nil {
		return err
	}
	pods := float64(b.namespaces * 40)
	b.figures.add("ms of CPU", alone.cpu.Seconds()*1000/pods, "a pod updated in place, if there are no others")
	b.figures.add("ms of CPU", beside.cpu.Seconds()*1000/pods, "a pod updated in place, beside all others")
	b.figures.add("times as much", beside.cpu.Seconds()/alone.cpu.Seconds(), "so the others cost")
	b.figures.add("", alone.requests/pods, "requests for a pod updated in place, if there are no others")
	b.figures.add("", beside.requests/pods, "requests for a pod updated in place, beside all others")
	b.figures.add("", beside.reconciles/pods, "reconciles for a pod updated in place, beside all others")
	b.figures.lasted(beside.took, "the rollout beside all others")
	if b.requests == 0 {
		return nil
	}
	return b.measureWebhooks(ctx)
}

// seedWeb makes the pods that are rolled out, and their copies, with nothing beside them.
func (b *bench) seedWeb(ctx context.Context) error {
	if err := b.createNamespaces(ctx, b.all()...); err != nil {
		return err
	}
	if err := b.createNodes(ctx, 0, 1); err != nil {
		return err
	}
	if err := b.awaitAccounts(ctx); err != nil {
		return err
	}
	for _, component := range []string{cluster.ControllerManager, cluster.Scheduler, cluster.Kwok} { // kubelets are played here
		if err := b.control.Kill(component); err != nil {
			return err
		}
	}
	return b.seed(ctx, func() error { return b.create(ctx, worldYAML, isWeb) })
}

// fill makes all that is left: in the first namespace by the controllers, elsewhere as copies.
func (b *bench) fill(ctx context.Context) error {
	err := b.seed(ctx, func() error {
		return errors.Join(b.create(ctx, worldYAML, func(o *unstructured.Unstructured) bool { return !isWeb(o) }),
			b.create(ctx, everywhereYAML, func(*unstructured.Unstructured) bool { return true }))
	})
	if err != nil {
		return err
	}
	if err := b.createNodes(ctx, 1, b.nodes); err != nil {
		return err
	}
	return b.copyAgents(ctx)
}

// isWeb tells whether an object belongs to what is rolled out.
func isWeb(o *unstructured.Unstructured) bool { return o.GetName() == "web" }

// seed has the manager work until all that is created is done, stops it, and makes the copies.
func (b *bench) seed(ctx context.Context, create func() error) error {
	stop := kubelets(b.core, "")
	defer stop()
	if err := b.manager.up(ctx); err != nil {
		return err
	}
	if err := create(); err != nil {
		return err
	}
	if err := b.await(ctx, b.settled); err != nil {
		return err
	}
	if _, err := b.quiet(ctx); err != nil {
		return err
	}
	if err := b.manager.stop(); err != nil {
		return err
	}
	return b.copyNamespace(ctx)
}

// copyNamespace copies what the first namespace has and the others have not.
func (b *bench) copyNamespace(ctx context.Context) error {
	all, err := b.etcd.read(ctx, "/"+seed+"/")
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e entry) bool {
		return b.copied[e.key] || strings.HasPrefix(e.key, "/registry/events/") || strings.HasPrefix(e.key, "/registry/configmaps/") || strings.HasPrefix(e.key, "/registry/serviceaccounts/")
	})
	for _, e := range all {
		b.copied[e.key] = true
	}
	copying, ctx := errgroup.WithContext(ctx)
	copying.SetLimit(4)
	for i, name := range b.copies() {
		copies := make([]entry, 0, len(all))
		for _, e := range all {
			other, err := e.copyOf(replacement{number: i + 1, uids: uids, node: b.nextNode, words: []string{"/" + seed + "/", "/" + name + "/", `"namespace":"` + seed + `"`, `"namespace":"` + name + `"`}})
			if err != nil {
				return err
			}
			copies = append(copies, other)
		}
		copying.Go(func() error { return b.etcd.write(ctx, copies) })
	}
	return copying.Wait()
}

// nextNode spreads pods.
func (b *bench) nextNode() string {
	b.placed++
	return nodeName(b.placed % b.nodes)
}

// copyAgents copies the pods of DaemonSets to all nodes.
func (b *bench) copyAgents(ctx context.Context) error {
	agents, err := b.etcd.read(ctx, "/registry/pods/"+ofAgents+"/")
	if err != nil {
		return err
	}
	for _, e := range agents {
		object, _, err := stored.Decode(e.value, nil, nil)
		if err != nil {
			return err
		}
		pod := object.(*corev1.Pod)
		copies := make([]entry, 0, b.nodes)
		for i := 1; i < b.nodes; i++ {
			other, err := e.copyOf(replacement{number: i, uids: ownUID(pod), words: []string{
				pod.Name, fmt.Sprint(pod.Name, "-", i), `"` + firstNode + `"`, `"` + nodeName(i) + `"`,
			}})
			if err != nil {
				return err
			}
			copies = append(copies, other)
		}
		if err := b.etcd.write(ctx, copies); err != nil {
			return err
		}
	}
	return nil
}
