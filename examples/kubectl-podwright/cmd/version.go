// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/examples/kubectl-podwright/explain"
	"github.com/podwright/podwright/examples/process/version"
)

// versions say what runs here and in the cluster. What could not be read is empty.
type versions struct {
	Plugin built `json:"plugin"`
	// Kubernetes is the version of the API server, and Served are the API versions of podwright's groups that it serves.
	Kubernetes string   `json:"kubernetes,omitempty"`
	Served     []string `json:"served,omitempty"`
	// Manager is the leader; nil if there is none, or it is not known.
	Manager *running `json:"manager,omitempty"`
	// Compatible is Yes, No or Unknown, and Reason says why.
	Compatible string `json:"compatible,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// built is what a program was built from.
type built struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
}

// running is a program in the cluster.
type running struct {
	// Version is the tag of the image, or of no version if that names none.
	Version string `json:"version,omitempty"`
	Image   string `json:"image"`
	Pod     string `json:"pod"`
}

// version prints what the plugin is, what the cluster runs, and whether the two go together. (KC-23)
func (c *commands) version() *cobra.Command {
	var output string
	var client bool
	observer := explain.Observer{}
	cmd := &cobra.Command{
		Use:                   "version",
		DisableFlagsInUseLine: true,
		Short:                 "Print the versions of the plugin and of the manager, and whether they go together",
		Long: templates.LongDesc(`
			Print the version of the plugin, of the API server and of the manager, and whether plugin and manager go together.

			The Lease of the manager names the pod that leads. The manager's version is the tag of the image in that pod. A tag
			that is no version, such as latest, leaves it unknown. They go together if major and minor version are the same, for plan
			and explain decide by the planners that the plugin was built with.`),
		Example: templates.Examples(`
			# The versions of the plugin and of what the cluster runs
			` + c.name + ` version

			# The version of the plugin, without asking a cluster
			` + c.name + ` version --client`),
		Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			v, unread := versions{}, error(nil)
			v.Plugin.Version, v.Plugin.Commit = version.Of()
			if !client {
				unread = c.fillVersions(cmd.Context(), &observer, &v)
				v.Compatible, v.Reason = compatible(&v)
			}
			if output != "" {
				cmdutil.CheckErr(c.encode(output, v))
			} else {
				fmt.Fprint(c.Out, v)
			}
			if v.Kubernetes == "" {
				cmdutil.CheckErr(unread)
			} else if unread != nil {
				fmt.Fprintf(c.ErrOut, "Could not be read:\n%v\n", unread)
			}
		},
	}
	addOutputFlag(cmd, &output)
	cmd.Flags().BoolVar(&client, "client", false, "Print the version of the plugin alone, and ask no API server.")
	addLeaseFlag(cmd, &observer)
	return cmd
}

// fillVersions reads what the cluster runs. What could not be read is named.
func (c *commands) fillVersions(ctx context.Context, observer *explain.Observer, v *versions) error {
	discovery, err := c.factory.ToDiscoveryClient()
	if err != nil {
		return err
	}
	server, err := discovery.ServerVersion()
	if err != nil {
		return fmt.Errorf("the API server: %w", err)
	}
	v.Kubernetes = server.GitVersion
	groups, err := discovery.ServerGroups()
	if err != nil {
		return fmt.Errorf("what the API server serves: %w", err)
	}
	for _, group := range groups.Groups {
		if group.Name == "apps.kruise.io" || group.Name == "policy.kruise.io" {
			for _, served := range group.Versions {
				v.Served = append(v.Served, served.GroupVersion)
			}
		}
	}
	slices.Sort(v.Served)
	if observer.Kubernetes, err = c.factory.KubernetesClientSet(); err != nil {
		return err
	}
	v.Manager, err = c.leader(ctx, observer)
	return err
}

// leader returns the manager that holds the Lease; nil if there is none.
func (c *commands) leader(ctx context.Context, observer *explain.Observer) (*running, error) {
	s := &explain.Situation{Now: c.clock.Now()}
	if err := observer.FillLease(ctx, s); err != nil || len(explain.ManagerAbsent(s)) > 0 {
		return nil, err
	}
	holder := ptr.Deref(s.Lease.Spec.HolderIdentity, "")
	name := holder // of the host, which is the pod, and behind it what tells processes apart
	if end := strings.LastIndex(holder, "_"); end >= 0 {
		name = holder[:end]
	}
	pod, err := observer.Kubernetes.CoreV1().Pods(s.Lease.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("the pod of %q, which holds the Lease %s: %w", holder, s.LeaseName, err)
	}
	main := slices.IndexFunc(pod.Spec.Containers, func(container corev1.Container) bool { return container.Name == "manager" })
	image := pod.Spec.Containers[max(main, 0)].Image
	return &running{Version: tagged(image), Image: image, Pod: pod.Namespace + "/" + pod.Name}, nil
}

// String is what a user reads.
func (v versions) String() string {
	text := "Plugin: " + strings.TrimSpace(v.Plugin.Version+" "+v.Plugin.Commit) + "\n"
	if v.Kubernetes != "" {
		text += "Kubernetes: " + v.Kubernetes + "\nServed: " + strings.Join(v.Served, ", ") + "\n"
	}
	if m := v.Manager; m != nil {
		named := m.Version
		if named == "" {
			named = "unknown"
		}
		text += fmt.Sprintf("Manager: %s, by the image %s of pod %s\n", named, m.Image, m.Pod)
	}
	if v.Compatible != "" {
		text += "Compatible: " + v.Compatible + ", " + v.Reason + "\n"
	}
	return text
}

// addLeaseFlag gives a command the flag that says which Lease is the manager's.
func addLeaseFlag(cmd *cobra.Command, observer *explain.Observer) {
	cmd.Flags().StringVar(&observer.Lease, "manager-lease", "kruise-system/kruise-manager", "The Lease of the manager, as NAMESPACE/NAME.")
}
