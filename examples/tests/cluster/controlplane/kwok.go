// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/config/resources"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

// runKwok plays the nodes and their pods by KWOK's stages until SIGTERM. Once it has seen what there is, it writes the
// file that -ready-file names.
//
// The stages are played by KWOK's own node and pod controllers. They see what our informers show them instead of KWOK's:
// see feed. With its own informers KWOK forgets a pod whose patch failed, for a conflict or because the API server was
// away. They delete through sparing, because KWOK deletes whatever has the name.
func runKwok() error {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	stages := flag.String("stages", "", "file with the Stage objects")
	cidr := flag.String("cidr", "", "addresses of pods")
	readyFile := flag.String("ready-file", "", "file to write when nodes and pods are played")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx = log.NewContext(ctx, log.NewLogger(os.Stderr, log.LevelWarn))

	restConfig, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	restConfig.QPS = -1
	restConfig.UserAgent = "kwok"
	restConfig.ContentType = "application/vnd.kubernetes.protobuf"
	failed := make(chan string, 1000)
	restConfig.Wrap(reportFailures(failed))
	client, err := kubernetes.NewForConfig(restConfig)
	if err != nil {
		return err
	}
	pods, nodes, err := readStages(ctx, *stages)
	if err != nil {
		return fmt.Errorf("stages in %s: %w", *stages, err)
	}
	f := newFeed(client)
	if err := play(ctx, f, sparing{client, f.podInformer.GetStore()}, pods, nodes, *cidr); err != nil {
		return err
	}
	go f.repeat(ctx, failed)
	f.run(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), f.podInformer.HasSynced, f.nodeInformer.HasSynced) {
		return ctx.Err()
	}
	if err := os.WriteFile(*readyFile, nil, 0o600); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// readStages returns the stages of pods and of nodes.
func readStages(ctx context.Context, path string) (pods, nodes lifecycle.Lifecycle, err error) {
	objects, err := config.Load(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	ofKind := map[string][]*internalversion.Stage{}
	for _, stage := range config.FilterWithType[*internalversion.Stage](objects) {
		kind := stage.Spec.ResourceRef.Kind
		ofKind[kind] = append(ofKind[kind], stage)
	}
	if pods, err = lifecycle.NewLifecycle(ofKind["Pod"]); err != nil {
		return nil, nil, err
	}
	nodes, err = lifecycle.NewLifecycle(ofKind["Node"])
	return pods, nodes, err
}

// play starts KWOK's controllers on the feed.
func play(ctx context.Context, f *feed, client kubernetes.Interface, pods, nodes lifecycle.Lifecycle, cidr string) error {
	nodeController, err := controllers.NewNodeController(controllers.NodeControllerConfig{
		TypedClient:          client,
		Lifecycle:            resources.NewStaticGetter(nodes),
		PlayStageParallelism: 8,
		// Pods that were seen before their node have been passed over.
		OnNodeManagedFunc: func(name string) { go f.sendPodsOf(ctx, name) },
	})
	if err != nil {
		return err
	}
	podController, err := controllers.NewPodController(controllers.PodControllerConfig{
		TypedClient:          client,
		NodeCacheGetter:      storeGetter[*corev1.Node]{f.nodeInformer.GetStore()},
		NodeGetFunc:          nodeController.Get,
		CIDR:                 cidr,
		Lifecycle:            resources.NewStaticGetter(pods),
		PlayStageParallelism: 16,
	})
	if err != nil {
		return err
	}
	if err := nodeController.Start(ctx, f.nodes); err != nil {
		return err
	}
	return podController.Start(ctx, f.pods)
}

// storeGetter lets KWOK read an informer's store.
type storeGetter[T any] struct{ store cache.Store }

func (g storeGetter[T]) Get(name string) (object T, found bool) {
	if item, ok, err := g.store.GetByKey(name); ok && err == nil {
		object, found = item.(T)
	}
	return object, found
}

func (g storeGetter[T]) GetWithNamespace(name, namespace string) (T, bool) {
	return g.Get(namespace + "/" + name)
}

func (g storeGetter[T]) List() (objects []T) {
	for _, item := range g.store.List() {
		objects = append(objects, item.(T))
	}
	return objects
}
