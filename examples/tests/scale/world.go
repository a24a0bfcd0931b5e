// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/tests/testbed/rig"
)

// The objects of the cluster, and the pods that they have.
var (
	//go:embed world.yaml
	worldYAML string
	//go:embed everywhere.yaml
	everywhereYAML string
	//go:embed pod.yaml
	podYAML []byte
	//go:embed agent.yaml
	agentYAML []byte
)

const (
	seed      = "seed"   // the namespace that is copied
	ofAgents  = "nodes"  // the namespace of DaemonSets
	firstNode = "node-0" // the node of all pods that are copied
)

// parse reads the objects of a file.
func parse(file string) (objects []*unstructured.Unstructured, err error) {
	pod, err := sigsyaml.YAMLToJSON(podYAML)
	if err != nil {
		return nil, err
	}
	agent, err := sigsyaml.YAMLToJSON(agentYAML)
	if err != nil {
		return nil, err
	}
	file = strings.NewReplacer("$POD", string(pod), "$AGENT", string(agent)).Replace(file)
	for document := range strings.SplitSeq(file, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(document)), len(document)).Decode(object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// resourceOf returns the resource of an object: for these kinds, the plural is regular.
func resourceOf(object *unstructured.Unstructured) schema.GroupVersionResource {
	return object.GroupVersionKind().GroupVersion().WithResource(strings.ToLower(object.GetKind()) + "s")
}

// create creates those objects of a file that are wanted.
func (b *bench) create(ctx context.Context, file string, wanted func(*unstructured.Unstructured) bool) error {
	objects, err := parse(file)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if !wanted(object) {
			continue
		}
		client := b.dynamic.Resource(resourceOf(object)).Namespace(object.GetNamespace())
		// The API server takes a moment to serve what has been defined, and to ask webhooks.
		err := rig.Until(ctx, fmt.Sprintf("%s %s to be created", object.GetKind(), object.GetName()), func(ctx context.Context) error {
			_, err := client.Create(ctx, object, metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// createNodes creates nodes from a number on, with status.
func (b *bench) createNodes(ctx context.Context, from, to int) error {
	creating, ctx := errgroup.WithContext(ctx)
	creating.SetLimit(parallel)
	for i := from; i < to; i++ {
		creating.Go(func() error {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: map[string]string{
				corev1.LabelHostname: nodeName(i), "half": []string{"left", "right"}[i%2],
			}}}
			if i == 0 { // it has to take the pods of both subsets, and of jobs
				node.Labels["scan"] = "yes"
			}
			if _, err := b.core.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				return err
			}
			_, err := b.core.CoreV1().Nodes().Patch(ctx, node.Name, types.StrategicMergePatchType, []byte(nodeStatus), metav1.PatchOptions{}, "status")
			return err
		})
	}
	return creating.Wait()
}

// nodeStatus is that of a node which is ready, and has room.
const nodeStatus = `{"status":{
	"capacity":{"cpu":"64","memory":"256Gi","pods":"1000"},"allocatable":{"cpu":"64","memory":"256Gi","pods":"1000"},
	"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// createNamespaces creates those that are to hold copies.
func (b *bench) createNamespaces(ctx context.Context, names ...string) error {
	creating, ctx := errgroup.WithContext(ctx)
	creating.SetLimit(parallel)
	for _, name := range names {
		creating.Go(func() error {
			_, err := b.core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return err
		})
	}
	return creating.Wait()
}

// all names the namespaces that have pods.
func (b *bench) all() []string { return append(b.copies(), seed, ofAgents) }

// copies names the namespaces that hold copies.
func (b *bench) copies() (names []string) {
	for i := 1; i < b.size.namespaces; i++ {
		names = append(names, fmt.Sprintf("shop-%d", i))
	}
	return names
}
