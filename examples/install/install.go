// SPDX-License-Identifier: Apache-2.0

package install

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/examples/kit/permissions"
	manager "github.com/podwright/podwright/examples/manager/app"
	nodeagent "github.com/podwright/podwright/examples/nodeagent/app"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// The images, without the registry that the release workflow pushes them to: a user who installs them from there names it.
const (
	ManagerRepository   = "podwright-manager"
	NodeAgentRepository = "podwright-nodeagent"
	Tag                 = "latest"
)

// Options says what is installed. NewOptions returns what the files in this folder hold.
type Options struct {
	// ManagerImage and NodeAgentImage are the images of the two programs. Required.
	ManagerImage, NodeAgentImage string
	// Replicas is the number of managers, of which one leads. All of them serve webhooks.
	Replicas int32
	// ManagerFlags and NodeAgentFlags are given to the programs. RBAC rules, policies, CRDs, ports and mounts follow them.
	ManagerFlags, NodeAgentFlags []string
}

// NewOptions returns two managers with their defaults, and agents for containerd.
func NewOptions() Options {
	return Options{
		ManagerImage: ManagerRepository + ":" + Tag, NodeAgentImage: NodeAgentRepository + ":" + Tag, Replicas: 2,
		NodeAgentFlags: []string{
			"--cri-endpoint=unix:///run/containerd/containerd.sock",
			"--health-addr=127.0.0.1:10221", // answers without asking who it is, and so not to the network
		},
	}
}

// Objects are what is installed, to be applied in the order of the fields. Agents can be left out.
type Objects struct{ Namespaces, CRDs, Manager, NodeAgent []*unstructured.Unstructured }

// All returns all of them.
func (o *Objects) All() []*unstructured.Unstructured {
	return slices.Concat(o.Namespaces, o.CRDs, o.Manager, o.NodeAgent)
}

// nodeNameVariable is the environment variable that names the node of an agent.
const nodeNameVariable = "NODE_NAME"

// New returns the objects. It fails for flags that the programs do not take.
func New(o Options) (*Objects, error) {
	objects := &Objects{}
	for _, part := range []func(Options, *Objects) error{addManager, addNodeAgent, addNamespaces} {
		if err := part(o, objects); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func addManager(o Options, objects *Objects) error {
	config, err := o.managerConfig()
	if err != nil {
		return err
	}
	if objects.CRDs, err = manager.Definitions(*config); err != nil {
		return err
	}
	rbac, err := objectsOf(manager.Manifest(*config))
	if err != nil {
		return err
	}
	policies, err := objectsOf(manager.Policies(*config))
	if err != nil {
		return err
	}
	deployment, err := o.Deployment()
	if err != nil {
		return err
	}
	runs, err := podwrightmanager.Unstructured(deployment)
	if err == nil && config.Webhook.Enabled {
		var hooks []*unstructured.Unstructured
		hooks, err = podwrightmanager.Unstructured(service(config))
		runs = append(hooks, runs...)
	}
	objects.Manager = slices.Concat(rbac, policies, runs)
	return err
}

func addNodeAgent(o Options, objects *Objects) error {
	config, err := o.nodeAgentConfig()
	if err != nil {
		return err
	}
	rbac, err := objectsOf(nodeagent.Manifest(*config))
	if err != nil {
		return err
	}
	policies, err := objectsOf(nodeagent.Policies())
	if err != nil {
		return err
	}
	daemons, err := o.DaemonSet()
	if err != nil {
		return err
	}
	runs, err := podwrightmanager.Unstructured(daemons)
	objects.NodeAgent = slices.Concat(rbac, policies, runs)
	return err
}

// addNamespaces adds the namespaces of the other objects. That of the agents has to admit pods with hostPath volumes.
func addNamespaces(_ Options, objects *Objects) (err error) {
	var namespaces []runtime.Object
	var known []string
	for _, object := range slices.Concat(objects.Manager, objects.NodeAgent) {
		name := object.GetNamespace()
		if name == "" || slices.Contains(known, name) {
			continue
		}
		known = append(known, name)
		namespace := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name == nodeagent.Namespace {
			namespace.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}
		}
		namespaces = append(namespaces, namespace)
	}
	objects.Namespaces, err = podwrightmanager.Unstructured(namespaces...)
	return err
}

// managerConfig returns what a manager makes of its flags.
func (o Options) managerConfig() (*manager.Config, error) {
	config, err := manager.NewConfig(func(string) string { return "" })
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := errors.Join(flags.Parse(o.ManagerFlags), config.Validate()); err != nil {
		return nil, fmt.Errorf("flags of the manager: %w", err)
	}
	return &config, nil
}

// nodeAgentConfig returns what an agent makes of its flags, on whatever node.
func (o Options) nodeAgentConfig() (*nodeagent.Config, error) {
	config := nodeagent.NewConfig(func(variable string) string { return map[string]string{nodeNameVariable: "node"}[variable] })
	flags := pflag.NewFlagSet("nodeagent", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := errors.Join(flags.Parse(o.NodeAgentFlags), config.Validate()); err != nil {
		return nil, fmt.Errorf("flags of the node agent: %w", err)
	}
	return &config, nil
}

// objectsOf returns the objects of a manifest that a program prints.
func objectsOf(manifest []byte, err error) ([]*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	return permissions.Objects(manifest)
}
