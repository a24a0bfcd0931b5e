// Package recreate looks after ContainerRecreateRequests (apps.kruise.io): each
// stops containers of one pod once, so that the kubelet starts them again. The
// containers are stopped by the agent of the pod's node; this package is the
// other half, which runs in the control plane.
package recreate
