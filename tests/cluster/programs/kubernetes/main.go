// One binary for every Kubernetes program of a test cluster: it does what the name it is called by says.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	genericapiserver "k8s.io/apiserver/pkg/server"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
	metrics "sigs.k8s.io/metrics-server/cmd/metrics-server/app"
)

func main() {
	command := find(filepath.Base(os.Args[0]))
	if command == nil {
		fmt.Fprintln(os.Stderr, "kubernetes: call it by the name of one of its programs, not", os.Args[0])
		os.Exit(2)
	}
	if command.Name() == "kubectl" {
		if err := cli.RunNoErrOutput(command); err != nil {
			util.CheckErr(err)
		}
		return
	}
	os.Exit(cli.Run(command))
}

func find(name string) *cobra.Command {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return controllers.NewControllerManagerCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kubelet":
		return kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		return proxy.NewProxyCommand()
	case "metrics-server":
		return metrics.NewMetricsServerCommand(genericapiserver.SetupSignalHandler())
	case "kubectl":
		return kubectl.NewDefaultKubectlCommand()
	}
	return nil
}
