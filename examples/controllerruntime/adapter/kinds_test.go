// SPDX-License-Identifier: Apache-2.0

package adapter_test

import (
	"testing"

	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/podwright/podwright"
	availability "github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	distribution "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagelistpulljob"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/workloadspread"
	lifecycle "github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/recreate"
	sidecar "github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/terminator"
	"github.com/podwright/podwright/workloads/broadcastjob"
	workloads "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// clients are what options take.
type clients struct {
	kube         kubernetes.Interface
	workloads    workloads.Interface
	sidecar      sidecar.Interface
	availability availability.Interface
	distribution distribution.Interface
	lifecycle    lifecycle.Interface
	evictions    *evictionresponder.Client
}

// evictionKind is that of the requests that responders answer.
var evictionKind = evictionresponder.SchemeGroupVersion.WithKind("Eviction")

// kinds are all that have a controller, and an object that each reconciles.
func kinds(all podwright.ControllerOptions, c *clients) map[string]podwright.Kind {
	const template = "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: nginx}]}}}}"
	return map[string]podwright.Kind{
		"{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, spec: {replicas: 1, " + template: cloneset.Describe(
			cloneset.Options{ControllerOptions: all, Kubernetes: c.kube, Workloads: c.workloads}, nil),
		"{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, spec: {replicas: 1, serviceName: web, " + template: statefulset.Describe(
			statefulset.Options{ControllerOptions: all, Kubernetes: c.kube, Workloads: c.workloads}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: DaemonSet, spec: {" + template: daemonset.Describe(
			daemonset.Options{ControllerOptions: all, Kubernetes: c.kube, Workloads: c.workloads}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: UnitedDeployment, spec: {" + template: uniteddeployment.Describe(
			uniteddeployment.Options{ControllerOptions: all, Kubernetes: c.kube, Workloads: c.workloads}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: BroadcastJob, spec: {template: {spec: {containers: [{name: main, image: nginx}]}}}}": broadcastjob.Describe(
			broadcastjob.Options{ControllerOptions: all, Kubernetes: c.kube, Workloads: c.workloads}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: AdvancedCronJob, spec: {schedule: '0 0 * * *', template: {}}}": cronjob.Describe(
			cronjob.Options{ControllerOptions: all, Kubernetes: c.kube, Workloads: c.workloads, Distribution: c.distribution}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: SidecarSet, spec: {selector: {matchLabels: {app: web}}}}": sidecarset.Describe(
			sidecarset.Options{ControllerOptions: all, Kubernetes: c.kube, Sidecar: c.sidecar}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: SidecarSet, metadata: {name: other}, spec: {selector: {matchLabels: {app: web}}}}": policies.Describe(
			policies.Options{ControllerOptions: all, Kubernetes: c.kube, Sidecar: c.sidecar}),
		"{apiVersion: v1, kind: Pod, metadata: {name: ends}, spec: {restartPolicy: Never, containers: [{name: main, image: nginx}, {name: side, image: nginx, env: [{name: KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT, value: 'true'}]}]}, status: {phase: Running, containerStatuses: [{name: main, image: nginx, imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode: 0}}}, {name: side, image: nginx, imageID: '', ready: true, restartCount: 0, state: {running: {}}}]}}": terminator.Describe(
			terminator.Options{ControllerOptions: all, Kubernetes: c.kube, Lifecycle: c.lifecycle}),
		"{apiVersion: policy.kruise.io/v1alpha1, kind: PodUnavailableBudget, spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}}": podunavailablebudget.Describe(
			podunavailablebudget.Options{ControllerOptions: all, Kubernetes: c.kube, Availability: c.availability}, nil),
		"{apiVersion: " + evictionresponder.SchemeGroupVersion.String() + ", kind: Eviction, spec: {target: {}}}": evictionresponder.Describe(
			evictionresponder.Options{ControllerOptions: all, Kubernetes: c.kube, EvictionClient: c.evictions}),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: WorkloadSpread, spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, subsets: [{name: a}]}}": workloadspread.Describe(
			workloadspread.Options{ControllerOptions: all, Kubernetes: c.kube, Distribution: c.distribution}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: PersistentPodState, spec: {targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}}}": persistentpodstate.Describe(
			persistentpodstate.Options{ControllerOptions: all, Kubernetes: c.kube, Distribution: c.distribution}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: ResourceDistribution, spec: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, targets: {allNamespaces: true}}}": resource.Describe(
			resource.Options{ControllerOptions: all, Kubernetes: c.kube, Distribution: c.distribution}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: ImagePullJob, spec: {image: nginx, completionPolicy: {type: Never}}}": imagepulljob.Describe(
			imagepulljob.Options{ControllerOptions: all, Kubernetes: c.kube, Distribution: c.distribution}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: ImageListPullJob, spec: {images: [nginx], completionPolicy: {type: Never}}}": imagelistpulljob.Describe(
			imagelistpulljob.Options{ControllerOptions: all, Distribution: c.distribution}, nil),
		"{apiVersion: v1, kind: Node, metadata: {name: node-1}}": nodeimage.Describe(
			nodeimage.Options{ControllerOptions: all, Kubernetes: c.kube, Distribution: c.distribution}, nil),
		"{apiVersion: v1, kind: Node, metadata: {name: node-2}}": nodepodprobe.Describe(
			nodepodprobe.Options{ControllerOptions: all, Kubernetes: c.kube, Lifecycle: c.lifecycle}),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: PodProbeMarker, spec: {selector: {matchLabels: {app: web}}, probes: []}}": podprobemarker.Describe(
			podprobemarker.Options{ControllerOptions: all, Kubernetes: c.kube, Lifecycle: c.lifecycle}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: ContainerRecreateRequest, spec: {podName: web, containers: [{name: main}]}}": recreate.Describe(
			recreate.Options{ControllerOptions: all, Kubernetes: c.kube, Lifecycle: c.lifecycle}, nil),
		"{apiVersion: apps.kruise.io/v1alpha1, kind: EphemeralJob, spec: {selector: {matchLabels: {app: web}}, template: {ephemeralContainers: [{name: debug, image: busybox}]}}}": ephemeraljob.Describe(
			ephemeraljob.Options{ControllerOptions: all, Kubernetes: c.kube, Lifecycle: c.lifecycle}),
		"{apiVersion: v1, kind: Pod, metadata: {name: gated}, spec: {readinessGates: [{conditionType: KruisePodReady}], containers: [{name: main, image: nginx}]}}": podreadiness.Describe(
			podreadiness.Options{ControllerOptions: all, Kubernetes: c.kube}),
		"{apiVersion: v1, kind: Pod, metadata: {name: ordered}, spec: {containers: [{name: main, image: nginx, env: [{name: KRUISE_CONTAINER_BARRIER, valueFrom: {configMapKeyRef: {name: ordered-barrier, key: p_1}}}]}]}, status: {phase: Pending, conditions: [{type: ContainersReady, status: 'False'}], containerStatuses: [{name: main, image: nginx, imageID: '', ready: false, restartCount: 0, state: {waiting: {}}}]}}": launchpriority.Describe(
			launchpriority.Options{ControllerOptions: all, Kubernetes: c.kube}),
	}
}

func connect(t *testing.T, m ctrl.Manager) *clients {
	t.Helper()
	c, config, http := &clients{}, m.GetConfig(), m.GetHTTPClient()
	var err error
	c.kube, err = kubernetes.NewForConfigAndClient(config, http)
	must(t, err)
	c.workloads, err = workloads.NewForConfigAndClient(config, http)
	must(t, err)
	c.sidecar, err = sidecar.NewForConfigAndClient(config, http)
	must(t, err)
	c.availability, err = availability.NewForConfigAndClient(config, http)
	must(t, err)
	c.distribution, err = distribution.NewForConfigAndClient(config, http)
	must(t, err)
	c.lifecycle, err = lifecycle.NewForConfigAndClient(config, http)
	must(t, err)
	c.evictions, err = evictionresponder.NewClient(config, http)
	must(t, err)
	return c
}
