// SPDX-License-Identifier: Apache-2.0

package e2e

import corev1 "k8s.io/api/core/v1"

var pods = []guarantee{
	{
		name:    "a deleted pod",
		promise: "A pod that is deleted comes back with its name, identity and claims, when the old one is gone.",
		spec:    []string{withClaims, held},
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.DeletePod("web-1")
			p.settled("web-0 web:1", "web-1 web:1 terminating", "web-2 web:1")
			p.release("web-1")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("replace web-1 web:1")
			p.keptClaims()
		},
	},
	{
		name:    "a failed pod",
		promise: "A pod that has failed, because it was evicted for instance, is deleted and created again.",
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.SetPhase("web-1", corev1.PodFailed)
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("unready web-1", "replace web-1 web:1")
		},
	},
	{
		name:    "failed pods, parallel",
		promise: "With podManagementPolicy Parallel, failed pods do not wait for each other.",
		spec:    []string{parallel, held},
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.SetPhase("web-0", corev1.PodFailed)
			p.SetPhase("web-2", corev1.PodFailed)
			p.settled("web-0 web:1 failed terminating", "web-1 web:1", "web-2 web:1 failed terminating")
			p.release("web-0", "web-2")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happenedInAnyOrder("unready web-0", "replace web-0 web:1", "unready web-2", "replace web-2 web:1")
		},
	},
	{
		name:    "a succeeded pod",
		promise: "A pod whose containers have ended well, because its node was shut down for instance, is replaced like a failed one.",
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.SetPhase("web-1", corev1.PodSucceeded)
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("unready web-1", "replace web-1 web:1")
		},
	},
	{
		name:    "the name label",
		promise: "Pods are labelled with their name and their index, and their host name is their name, below the service.",
		play: func(p *play) {
			p.begin(3)
			p.hasIdentity("web-1", map[string]string{"app": "web", "tier": "back",
				"statefulset.kubernetes.io/pod-name": "web-1", "apps.kubernetes.io/pod-index": "1"}, "peers")
			p.forget()
			p.Label("web-1", "statefulset.kubernetes.io/pod-name", nil)
			p.awaitLabel("web-1", "statefulset.kubernetes.io/pod-name", "web-1")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened()
		},
	},
	{
		name:    "defaults",
		promise: "Without a number of replicas there is one, and without a service name its host name has no subdomain.",
		spec:    []string{`{replicas: null, serviceName: null}`},
		play: func(p *play) {
			p.begin(1)
			p.hasIdentity("web-0", map[string]string{"app": "web", "tier": "back",
				"statefulset.kubernetes.io/pod-name": "web-0", "apps.kubernetes.io/pod-index": "0"}, "")
		},
	},
	{
		name:    "the whole template",
		promise: "Everything that a template can hold reaches the pods; only the host name and the subdomain are the set's.",
		spec:    []string{wholeTemplate},
		play: func(p *play) {
			p.create()
			p.settled("web-0 web:1 unready")
			p.openGate("web-0")
			p.settled("web-0 web:1")
		},
	},
}

// wholeTemplate has something of everything that does not keep a pod from running here.
const wholeTemplate = `
  replicas: 1
  template:
    metadata:
      finalizers: [example.com/hold]
    spec:
  
      affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}}]}}
      dnsConfig: {options: [{name: ndots, value: "2"}]}
      dnsPolicy: Default
      enableServiceLinks: false
      hostAliases: [{ip: 10.1.2.3, hostnames: [other]}]
      hostname: not-the-name
      subdomain: not-the-service
      initContainers:
      - {name: proxy, image: "proxy:1", restartPolicy: Always, ports: [{containerPort: 15001}]}
      - {name: prepare, image: "prepare:1", command: [prepare], args: ["--all"]}
      nodeSelector: {kubernetes.io/os: linux}
      readinessGates: [{conditionType: example.com/open}]
      securityContext: {fsGroup: 2000, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}, sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: "0"}]}
      shareProcessNamespace: true
      terminationGracePeriodSeconds: 7
      tolerations: [{key: example.com/dedicated, operator: Exists}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [controller-revision-hash]}]
      volumes:
      - {name: tmp, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
      - {name: info, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
      containers:
      - name: main
        image: "web:1"
        env: [{name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]
        envFrom: [{configMapRef: {name: settings, optional: true}}]
        lifecycle: {preStop: {sleep: {seconds: 1}}}
        livenessProbe: {httpGet: {path: /, port: web}}
        ports: [{name: web, containerPort: 80}, {containerPort: 53, protocol: UDP}]
        readinessProbe: {grpc: {port: 81}}
        resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: memory, restartPolicy: RestartContainer}]
        resources: {limits: {cpu: 1500m, memory: 1Gi}, requests: {cpu: "0.5"}}
        securityContext: {capabilities: {add: [NET_ADMIN]}, readOnlyRootFilesystem: true}
        startupProbe: {exec: {command: ["true"]}, failureThreshold: 30}
        volumeMounts: [{name: tmp, mountPath: /tmp}, {name: info, mountPath: /info, readOnly: true}]
      - {name: helper, image: "helper:1", imagePullPolicy: Never}
      - {name: latest, image: "helper"}
`
