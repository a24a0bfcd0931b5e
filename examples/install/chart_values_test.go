// SPDX-License-Identifier: Apache-2.0

package install

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	manager "github.com/podwright/podwright/examples/manager/app"
	nodeagent "github.com/podwright/podwright/examples/nodeagent/app"
)

// userValues reads values as a user writes them.
func userValues(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// Pods have what the values say.
func TestChartPods(t *testing.T) {
	const some = `
  args: [--rest-config-qps=7, -v=4]
  resources: {requests: {cpu: "1"}, limits: {memory: 4Gi}}
  goMemoryLimit: 3GiB
  priorityClassName: mine
  nodeSelector: {a: b}
  tolerations: [{key: c, operator: Exists}]
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: d, operator: Exists}]}]}}}
`
	objects := rendered(t, userValues(t, "imagePullSecrets: [{name: registry}]\nrelease: \"1.9\"\nfeatureGates: {CloneSetShortHash: true}\nmanager:"+some+
		"nodeagent:"+strings.Replace(some, "--rest-config-qps=7", "--concurrency=7", 1)))
	deployment, daemon := find[appsv1.Deployment](t, objects, "Deployment"), find[appsv1.DaemonSet](t, objects, "DaemonSet")
	for name, pod := range map[string]corev1.PodSpec{"manager": deployment.Spec.Template.Spec, "nodeagent": daemon.Spec.Template.Spec} {
		c := pod.Containers[0]
		own := map[string]string{"manager": "--rest-config-qps=7", "nodeagent": "--concurrency=7"}[name]
		want := []string{"--release=1.9", "--feature-gates=CloneSetShortHash=true", own, "-v=4"}
		if got := c.Args[len(c.Args)-min(4, len(c.Args)):]; !slices.Equal(got, want) {
			t.Errorf("%s has the arguments %q, want %q last", name, c.Args, want)
		}
		if c.Resources.Limits.Memory().String() != "4Gi" || c.Resources.Requests.Cpu().String() != "1" || getenv(&c, nil)("GOMEMLIMIT") != "3GiB" {
			t.Errorf("%s has %+v, %+v", name, c.Resources, c.Env)
		}
		if pod.PriorityClassName != "mine" || pod.NodeSelector["a"] != "b" || len(pod.Tolerations) != 1 || pod.Tolerations[0].Key != "c" || pod.Affinity.NodeAffinity == nil || pod.ImagePullSecrets[0].Name != "registry" {
			t.Errorf("%s is %+v", name, pod)
		}
	}
}

// RBAC rules, policies and CRDs follow gates and the release, as they do for the flags of the same names.
func TestChartGates(t *testing.T) {
	for flag, values := range map[string]string{
		"--feature-gates=ResourceDistributionGate=true":                       "featureGates: {ResourceDistributionGate: true}",
		"--feature-gates=SidecarTerminator=true,EvictionResponder=true":       "featureGates: {SidecarTerminator: true, EvictionResponder: true}",
		"--feature-gates=SidecarSetPolicies=true,KruisePodReadinessGate=true": "featureGates: {SidecarSetPolicies: true, KruisePodReadinessGate: true}",
		"--feature-gates=EnableExternalCerts=true":                            "featureGates: {EnableExternalCerts: true}",
		"--feature-gates=EvictionResponder=true,PodWebhook=true":              "{featureGates: \"EvictionResponder=true, PodWebhook=true,\"}", // as OpenKruise's chart has it
		"--feature-gates=PodWebhook=false,KruiseDaemon=true --release=1.9":    "{release: \"1.9\", featureGates: \"PodWebhook=false,KruiseDaemon=true\"}",
		"--feature-gates=EnableExternalCerts=true --release=1.9":              "{release: \"1.9\", featureGates: {EnableExternalCerts: true}}",
		"--feature-gates=ResourcesDeletionProtection=false":                   "featureGates: {ResourcesDeletionProtection: false}",
		"--feature-gates=PodWebhook=false":                                    "featureGates: {PodWebhook: false}",
		"--feature-gates=PreDownloadImageForInPlaceUpdate=true --release=1.9": "{release: \"1.9\", featureGates: {PreDownloadImageForInPlaceUpdate: true}}",
		"--feature-gates=InPlaceWorkloadVerticalScaling=true --release=1.9":   "{release: \"1.9\", featureGates: {InPlaceWorkloadVerticalScaling: true}}",
		"--feature-gates=ResourcesDeletionProtection=true --release=1.9":      "{release: \"1.9\", featureGates: {ResourcesDeletionProtection: true}}",
	} {
		t.Run(flag, func(t *testing.T) {
			got := rendered(t, userValues(t, values))
			count := func(objects []*unstructured.Unstructured) (n int) {
				for _, object := range objects {
					if strings.HasPrefix(object.GetKind(), "ValidatingAdmissionPolicy") {
						n++
					}
				}
				return n
			}
			want := released14(t, strings.Fields(flag)...).All()
			if count(got) != count(want) {
				t.Errorf("%d policies and bindings, want %d", count(got), count(want))
			}
			for _, object := range want {
				at := slices.IndexFunc(got, func(o *unstructured.Unstructured) bool { return identity(o) == identity(object) })
				if at < 0 {
					t.Errorf("%s is missing", identity(object))
					continue
				}
				if object.GetKind() == "CustomResourceDefinition" && got[at].GetAnnotations()[KeepAnnotation] != Keep {
					t.Errorf("%s is deleted with the release", identity(object))
				}
				has := rights(object, got[at])
				for right := range rights(object, object) {
					if !has[right] {
						t.Errorf("%s does not grant %v", identity(object), right)
					}
				}
			}
		})
	}
}

// With certificates of another program the manager may read their Secret, and nothing more; what it registers has the annotations. (PF-5.4)
func TestChartExternalCertificates(t *testing.T) {
	for values, want := range map[string][]string{
		"{}": {"create", "list", "patch", "watch"},
		"{featureGates: {EnableExternalCerts: true}, externalCerts: {annotations: {cert-manager.io/inject-ca-from: kruise-system/webhooks, a: b}}}": {"get"},
	} {
		objects := rendered(t, userValues(t, values))
		var verbs []string
		for _, object := range objects {
			if object.GetKind() != "Role" || object.GetNamespace() != "kruise-system" || object.GetName() != "podwright-manager" {
				continue
			}
			for right := range rights(object, object) {
				if right[2] == "secrets" && right[3] != "" {
					verbs = append(verbs, right[0])
				}
			}
		}
		slices.Sort(verbs)
		if verbs = slices.Compact(verbs); !slices.Equal(verbs, want) {
			t.Errorf("PF-5.4: %s: the manager may %v the Secret, want %v", values, verbs, want)
		}
		deployment := find[appsv1.Deployment](t, objects, "Deployment")
		annotated := slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, "--webhook-annotations=a=b,cert-manager.io/inject-ca-from=kruise-system/webhooks")
		if annotated != slices.Equal(want, []string{"get"}) {
			t.Errorf("PF-5.4: %s: arguments %q", values, deployment.Spec.Template.Spec.Containers[0].Args)
		}
	}
}

// A flag is given as an argument only if nothing but the program follows it.
func TestChartArguments(t *testing.T) {
	config, err := manager.NewConfig(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	agents := nodeagent.NewConfig(func(string) string { return "" })
	base := shipped(t)
	sample := map[string]string{"bool": "true", "int": "7", "duration": "7m", "float32": "7", "string": "Ignore", "strings": "", "stringSlice": "a.b", "stringArray": "a.b"}
	for program, add := range map[string]func(*pflag.FlagSet){"manager": config.AddFlags, "nodeagent": agents.AddFlags} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		add(flags)
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Deprecated != "" || slices.Contains(followed[program], f.Name) {
				return
			}
			value := sample[f.Value.Type()]
			if f.Value.Type() == "bool" && f.DefValue == "true" {
				value = "false"
			}
			o := NewOptions()
			of := &o.ManagerFlags
			if program == "nodeagent" {
				of = &o.NodeAgentFlags
			}
			*of = append(*of, "--"+f.Name+"="+value)
			objects, err := New(o)
			if err != nil {
				t.Logf("%s --%s=%s: %v", program, f.Name, value, err) // a value that it does not take says nothing
				return
			}
			if e := added("", withoutPods(base), withoutPods(objects)); len(e.objects)+len(e.rules) > 0 { // what is there without need is no harm
				t.Errorf("%s: --%s=%s takes objects %v and rules %v that the chart lacks", program, f.Name, value, e.objects, e.rules)
			}
		})
		for _, name := range followed[program] {
			if flags.Lookup(name) == nil && name != "print-rbac" && name != "print-policies" {
				t.Errorf("%s has no flag %s", program, name)
			}
		}
	}
}

// withoutPods leaves out what has the arguments.
func withoutPods(objects *Objects) []*unstructured.Unstructured {
	return slices.DeleteFunc(objects.All(), func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "Deployment" || o.GetKind() == "DaemonSet"
	})
}

// A network policy lets reach the managers what asks their ports, and metrics those whom the user names.
func TestChartNetworkPolicy(t *testing.T) {
	objects := rendered(t, userValues(t, "networkPolicy: {enabled: true, metricsFrom: [{namespaceSelector: {matchLabels: {a: b}}}]}"))
	policy, deployment := find[networkingv1.NetworkPolicy](t, objects, "NetworkPolicy"), find[appsv1.Deployment](t, objects, "Deployment")
	if diff := cmp.Diff(deployment.Spec.Template.Labels, policy.Spec.PodSelector.MatchLabels); diff != "" || policy.Namespace != deployment.Namespace {
		t.Errorf("it is about pods in %s (-want +got):\n%s", policy.Namespace, diff)
	}
	open := map[string]int{}
	for _, rule := range policy.Spec.Ingress {
		for _, port := range rule.Ports {
			open[port.Port.String()] = len(rule.From)
		}
	}
	if diff := cmp.Diff(map[string]int{"webhook": 0, "health": 0, "metrics": 1}, open); diff != "" || len(deployment.Spec.Template.Spec.Containers[0].Ports) != len(open) {
		t.Errorf("peers by port (-want +got):\n%s", diff)
	}
}

// Wrong values are refused, in words that say which and why.
func TestChartRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"featureGates: {CloneSetShrtHash: true}":      "featureGates: CloneSetShrtHash is no feature gate; name each by itself, of: ",
		"featureGates: AllAlpha=true":                 "featureGates: AllAlpha is no feature gate; name each by itself",
		"featureGates: PodWebhook":                    "featureGates: PodWebhook: want NAME=true or NAME=false",
		"featureGates: {AllAlpha: true}":              "featureGates: AllAlpha is no feature gate; name each by itself",
		"featureGates: {CloneSetShortHash: \"true\"}": "got string, want boolean",
		"release: \"1.5\"":                            "release",
		"manager: {args: [--metrics-addr=:1]}":        "manager.args: --metrics-addr=:1: ports, RBAC rules, policies or CRDs follow this flag; make a chart with it",
		"nodeagent: {args: [--health-addr=:1]}":       "nodeagent.args: --health-addr=:1: ports,",
		"manager: {args: [--feature-gates=A=true]}":   "this chart has the values featureGates and release for that",
		"manager: {args: [cloneset-workers=3]}":       "manager/args/0",
		"manager: {replica: 3}":                       "additional properties 'replica' not allowed",
		"manager: {replicas: two}":                    "manager/replicas",
		"networkPolicy: {metricsFrom: prometheus}":    "networkPolicy/metricsFrom",
		"metric: {service: true}":                     "additional properties 'metric' not allowed",
	} {
		if _, err := render("chart", "v1.37.1", userValues(t, values)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", values, err, want)
		}
	}
}

// rights are what a role grants: verb, group, resource and name, if the other one names it; of other objects nothing.
func rights(named, role *unstructured.Unstructured) map[[4]string]bool {
	all, names := map[[4]string]bool{}, []string{""}
	each := func(object *unstructured.Unstructured, visit func(rule map[string][]any)) {
		rules, _ := object.Object["rules"].([]any)
		for _, rule := range rules {
			fields := map[string][]any{}
			for key, value := range rule.(map[string]any) {
				fields[key], _ = value.([]any)
			}
			visit(fields)
		}
	}
	each(named, func(rule map[string][]any) {
		for _, name := range rule["resourceNames"] {
			names = append(names, name.(string))
		}
	})
	each(role, func(rule map[string][]any) {
		for _, verb := range rule["verbs"] {
			for _, group := range rule["apiGroups"] {
				for _, resource := range rule["resources"] {
					for _, name := range names {
						if len(rule["resourceNames"]) == 0 || slices.Contains(rule["resourceNames"], any(name)) {
							all[[4]string{verb.(string), group.(string), resource.(string), name}] = true
						}
					}
				}
			}
		}
	})
	return all
}

// Values of OpenKruise's chart are done, have no effect, which the notes say, or are refused with what to do in their place.
func TestChartValuesOfOpenKruise(t *testing.T) {
	for _, test := range []struct{ values, refused, notes string }{
		{"{}", "", ""},
		{"daemon: {socketLocation: /var/run, extraEnvs: [], credentialProvider: {enable: false}}", "", ""},
		{"daemon: {extraEnvs: null, credentialProvider: null}", "", ""},
		{"daemon: {socketLocation: run/k3s}", "socketLocation", ""},
		{"daemon: {credentialProvider: {enable: true, hostPath: /etc/plugins, awsCredentialsDir: /root/.aws}}",
			"daemon.credentialProvider: make a chart that mounts both folders of the nodes: go run ./install/generate -folder=FOLDER -nodeagent-flag=--image-credential-provider-config=FILE", ""},
		{"daemon: {extraEnvs: [{value: b}]}", "extraEnvs", ""},
		{"daemon: {extraEnvs: [{name: NODE_NAME, value: b}]}", "daemon.extraEnvs: NODE_NAME: this chart sets it", ""},
		{"daemon: {log: {level: 4}}", "log", ""},
		{"installation: {roleListGroups: ['*']}", "", "installation.roleListGroups has no effect"},
	} {
		released, err := render("chart", "v1.37.1", userValues(t, test.values))
		if test.refused != "" {
			if err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%s: error %v, want %q", test.values, err, test.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.values, err)
			continue
		}
		if said := strings.Contains(released.Notes(), "has no effect"); !strings.Contains(released.Notes(), test.notes) || said != (test.notes != "") {
			t.Errorf("%s: the notes are %s", test.values, released.Notes())
		}
	}
}

// Agents look for the socket in the folder that daemon.socketLocation names, and have the variables of daemon.extraEnvs.
func TestChartFollowsValuesOfAgents(t *testing.T) {
	for _, test := range []struct {
		values, folder, mount string
		looks                 bool
		variables             []any
	}{
		{"{}", "/run/containerd", "/run/containerd", false, nil},
		{"daemon: {socketLocation: '', extraEnvs: null}", "/run/containerd", "/run/containerd", false, nil},
		{"daemon: {socketLocation: /run/k3s, extraEnvs: [{name: HTTPS_PROXY, value: 'http://proxy:1'}]}", "/run/k3s", "/hostvarrun", true,
			[]any{map[string]any{"name": "HTTPS_PROXY", "value": "http://proxy:1"}}},
		{"daemon: {socketLocation: /var/run}", "/var/run", "/hostvarrun", true, nil},
	} {
		for _, object := range rendered(t, userValues(t, test.values)) {
			if object.GetName() != "podwright-nodeagent" {
				continue
			}
			if rules, _ := object.Object["rules"].([]any); object.GetKind() == "ClusterRole" {
				reads := slices.ContainsFunc(rules, func(rule any) bool { return slices.Contains(rule.(map[string]any)["resources"].([]any), any("nodes")) })
				if reads != test.looks {
					t.Errorf("%s: agents may read nodes: %t", test.values, reads)
				}
			}
			if object.GetKind() != "DaemonSet" {
				continue
			}
			pod, _, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec")
			container := pod["containers"].([]any)[0].(map[string]any)
			named := slices.ContainsFunc(container["args"].([]any), func(arg any) bool { return strings.HasPrefix(arg.(string), "--cri-endpoint=") })
			folder, _, _ := unstructured.NestedString(pod["volumes"].([]any)[0].(map[string]any), "hostPath", "path")
			mount := container["volumeMounts"].([]any)[0].(map[string]any)["mountPath"]
			if folder != test.folder || mount != test.mount || named == test.looks {
				t.Errorf("%s: %s at %s, a socket is named: %t", test.values, folder, mount, named)
			}
			if variables := container["env"].([]any)[2:]; len(variables) != len(test.variables) || len(variables) > 0 && !reflect.DeepEqual(variables, test.variables) {
				t.Errorf("%s: variables %v", test.values, variables)
			}
		}
	}
}
