// SPDX-License-Identifier: Apache-2.0

// Command controllerruntime adds the CloneSet controller to a controller-runtime
// manager, beside whatever that manager runs already.
//
// There are two ways, and an operator needs one of them:
//   - AddController (controller.go) gives the manager a complete controller. It
//     watches the manager's own caches, and knows which events matter. This is
//     the way to take.
//   - AddReconciler (reconciler.go) puts only the reconciler into a controller of
//     controller-runtime: for an operator that has its own queues, predicates
//     and metrics.
//
// Neither needs a webhook; AddWebhook adds it if a manager serves some. Package adapter does
// the same for any kinds.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/podwright/podwright/examples/kit/leader"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func main() {
	reconciler := flag.Bool("reconciler", false, "run the reconciler in a controller of controller-runtime")
	webhook := flag.Bool("webhook", false, "serve the CloneSet webhook with the manager's others")
	lease := flag.String("lease-namespace", "kruise-system", "namespace of the Lease kruise-manager: what else manages CloneSets waits for the same one")
	namespaces := flag.String("namespaces", "", "watch these namespaces only, separated by commas; not with -reconciler")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(*reconciler, *webhook, *lease, strings.FieldsFunc(*namespaces, func(r rune) bool { return r == ',' })); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(reconciler, webhook bool, lease string, namespaces []string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // the API server shares itself out fairly
	options, err := Options(namespaces...)
	if err != nil {
		return err
	}
	options.LeaderElectionID = "kruise-manager"
	if config, err = leader.Elect(config, lease, nil, &options); err != nil { // which writes as long as it leads, and no longer
		return err
	}
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if reconciler {
		err = AddReconciler(manager)
	} else {
		err = AddController(manager, namespaces...)
	}
	if err != nil {
		return err
	}
	if webhook {
		if err := AddWebhook(manager); err != nil {
			return err
		}
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

// Options are what the controller needs of a manager: its kinds in the scheme.
// The transform is not needed, but caches are smaller by a third with it. Without
// namespaces the manager watches all.
func Options(namespaces ...string) (ctrl.Options, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return ctrl.Options{}, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return ctrl.Options{}, err
	}
	caches := cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	for _, namespace := range namespaces {
		if caches.DefaultNamespaces == nil {
			caches.DefaultNamespaces = map[string]cache.Config{}
		}
		caches.DefaultNamespaces[namespace] = cache.Config{}
	}
	return ctrl.Options{Scheme: scheme, Cache: caches}, nil
}
